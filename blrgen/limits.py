"""What is given up, and when: every limit on time, memory, size and nesting, with its reason.

What goes beyond one of them is answered in words.  `docs/limits.md` is written from this file.
"""

from __future__ import annotations

# Files -----------------------------------------------------------------------------------------
SILENCE = 5  # seconds without a byte from a pipe or a device: nobody may be writing
READING = 60  # seconds for a file that is no regular one: a trickle does not end either
CHUNK = 1 << 20  # bytes that are read at once: what is too large is noticed before it is held
PIPE_BYTES = 100_000_000  # from what is no regular file: its size is not known before
FAMILY_BYTES = 200_000  # of a family file: the largest that ships has 1,500
MODEL_BYTES = 1_000_000  # of a model's text
CODE_BYTES = 1_000_000  # of a Python file for verify
JSON_BYTES = 100_000_000  # of data in JSON or CSV: read, they take thirty times the memory
ARRAY_BYTES = 4_000_000_000  # of data in .npy and .npz, as arrays: they are held once in memory
HEADER_BYTES = 20_000  # of an array's file that are looked at for its shape: NumPy reads 10,000

# Expressions ------------------------------------------------------------------------------------
EXPRESSION_CHARACTERS = 20_000  # of an expression
EXPRESSION_BRACKETS = 40  # inside each other: each is a call of the reader
NAME_CHARACTERS = 40  # of a name: it stands in emitted code and in equations
NUMBER_DIGITS = 60  # of a number as written: it is kept exactly
NUMBER_EXPONENT = 308  # decimal, of a number as written: that of the largest double
EXPRESSION_DEPTH = 90  # levels of its tree, long sums and products being one: SymPy recurses
WHOLE_ARGUMENT = 200  # of factorial, zeta, … of numbers: they compute with integers
FACTORS = 8  # of a product of families
NUMBER_BITS = 2048  # of the numerator or denominator of a number
POWER = 32  # whole power of anything that is not a number: it is multiplied out
UNKNOWN_POWER = 8  # … of what SymPy does not know to be real: it would split it in two parts
IN_EXPONENT = 1000  # numbers inside an exponent
ZETA = 50  # s and a in zeta(s, a): sums and polynomials of that length
ROOT = 16384  # bits of a number times the size of its fractional exponent
CHOICES = 20  # k in binomial(n, k) when n is a constant but no fraction
TERMS = 2000  # of an expression when multiplied out

# Models -----------------------------------------------------------------------------------------
MODEL_CHARACTERS = 200_000  # of a model
MODEL_STATEMENTS = 2_000  # of a model: what is alike is one statement over a plate
STATEMENT_CHARACTERS = 10_000  # of a statement
STATEMENT_BRACKETS = 40  # inside each other
STATEMENT_POWERS = 80  # of a statement: each stands inside the one before

# Code that verify reads -------------------------------------------------------------------------
CODE_DEPTH = 200  # levels of a syntax tree
LENGTH = 48  # the length up to which code is read at sizes: a solve in the field takes 11 ms at 26
DECISIONS = 12  # conditions in a row that are taken both ways
CODE_STATEMENTS = 200_000  # that are read, those of loops once a turn
TURNS = 5_000  # of one loop, items of one list
VALUES = 5_000  # in a tuple, those of tuples in it among them
PATHS = 64  # ways through the code
OPERATIONS = 60_000  # of what was read: a proof visits each of them
WHOLE = 10**30  # whole numbers of Python that code computes with
CALLS = 40  # inside calls
ENTRIES = 20_000  # of one array
BLOCK_ROWS = 60  # of a matrix that is solved or factored
RUN_WAIT = 40  # seconds for the process in which what was proved is run
COMPILED_WAIT = 240  # … in which Numba compiles it: some seconds for each kind of argument
