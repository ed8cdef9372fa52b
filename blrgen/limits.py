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
