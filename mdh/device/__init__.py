"""Devices: build, launch, time. `api.open_device` opens one by its name, `protocols` says what it offers.

`cuda*`, `opencl*`, `c*` and `oclgrind` are the families. `cache` keeps machine code. `pocl_cache` and
`pocl_linker` guard PoCL's own cache and linker, `opencl_vendors` finds drivers that nobody registered,
`cuda_busy` keeps the host's part out of times, `ballast` evicts caches. `self_test` tries compilers and
runtimes in a process of its own, and `faults` is what it found. `machines` finds the machine of a name.
"""
