"""Models against public implementations, from the same start: `make peers` runs them.

public.py      what the packages compute, stepped one iteration at a time
cases.py       which model, data and start stand beside which package
live.py        a row a comparison; exits 1 when one is over its limit
"""
