"""Compares schedules on several devices: fills their holes, judges them, times them in turns, and makes the
results.

`run` is the entry point, `task` what is compared. `closing` fills holes, `recorded` finds earlier results,
`timing` runs the contest on a device, `figures` computes intervals and ratios, and `by_*` are the libraries;
`numpy_calls` and `torch_calls` are how they compute the programs that come with mdh and are no products.
"""
