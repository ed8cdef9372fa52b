"""Bare kernels by hand: the arithmetic of each program over axes, as quick as its writer can.

One module an algorithm.  A kernel takes what is given and then its results, which it overwrites;
a result without axes is an array of rank 0.  What takes the place of something given has no
array of its own.  Where a module has `fixed`, sizes are constants of
the compiled code.
"""
