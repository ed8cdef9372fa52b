"""`python -m blrgen` is the command `blrgen`."""

from __future__ import annotations

import sys

from blrgen.cli import main

sys.exit(main())
