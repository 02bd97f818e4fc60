"""One thread, so that sums repeat: imported before NumPy and torch load."""

import os

THREADS = "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"
os.environ |= dict.fromkeys(THREADS, "1")
