"""Programs over axes measured against bare kernels by hand: `python benchmarks/axes/run.py`."""
