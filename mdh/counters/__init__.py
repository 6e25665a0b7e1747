"""Hardware counters of kernels while they run: by `perf` on Linux CPUs, by Nsight Compute (`ncu`) on NVIDIA
GPUs.

Systems often keep counters from users. Then there is one sentence that says why, and what would change it.
"""
