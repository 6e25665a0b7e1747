"""Devices: build, launch, time. `api.open_device` opens a device by its name; `protocols` defines what a
device offers.

`cuda*`, `opencl*`, `c*` and `oclgrind` are the families. `cache` keeps machine code. `pocl_cache` and
`pocl_linker` guard PoCL's own cache and linker, and `opencl_vendors` finds drivers that are not registered.
`cuda_busy` keeps the host's work out of times, and `ballast` evicts caches. `self_test` tests compilers and
runtimes in a process of its own, and `faults` is what it found. `machines` finds the machine of a name.
"""
