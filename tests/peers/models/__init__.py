"""Models against public implementations, from the same start: `make peers` runs them.

public.py      what the packages compute, stepped one iteration at a time
cases.py       which model, data and start stand beside which package
more.py        the same beside SciPy's laws and optimiser, and topics
elsewhere.py   what those compute
listed.py      the rest of the models that ship
packages.py    what packages and SciPy give for those
modes.py       modes and maxima that packages find by methods of their own
hand_cases.py  models that no package has, beside their mathematics: by_hand.py
recorded.py    what was kept of all of them: recorded/models.npz
live.py        a row a comparison; exits 1 when one is over its limit
"""
