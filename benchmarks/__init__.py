"""Speed, as ratios measured in one run against a named baseline: ``python -m benchmarks``."""

import os

# One thread, set before numpy loads: the ratios are of single-threaded times.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"
