"""Algorithms for models written by hand, in plain NumPy: what emitted classes are held against."""
