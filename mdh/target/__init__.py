"""Module to text.

`clike` prints what all targets share; `cuda`, `opencl` and `c` are the dialects; `host*`, `folder` and
`manifest` write the host program and the folder around it. `faults` is the list of what compilers and
runtimes get wrong. `reads_first`, `lane_calls`, `sums` and `negations` change a kernel so that such a fault
does no harm; `wrapping` computes signed numbers as unsigned ones where the language leaves overflow
undefined.
"""
