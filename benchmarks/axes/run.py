"""Programs over axes against bare kernels: python benchmarks/axes/run.py [--quick] [--json F]."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> int:
    """One thread for LAPACK, two for kernels, before anything reads how many there are."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ.setdefault("NUMBA_NUM_THREADS", "2")
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from benchmarks.axes import table

    return table.main()


if __name__ == "__main__":
    sys.exit(main())
