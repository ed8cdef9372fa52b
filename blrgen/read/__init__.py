"""Reading: family files, losses, recipes and the expressions in them.  No calculus.

`expression` is the only door through which text becomes an expression.
"""
