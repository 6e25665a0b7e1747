"""Programs as operators of array frameworks: functions of their inputs that return results.

`form` says which parameters are inputs, results, arrays that are changed in place, numbers and sizes, and
`extents` what the results' shapes are, also where sizes are symbols. `pure` proves that results depend on the
inputs alone. `operator` builds kernels, and kernels of backward programs, for the sizes and devices of calls.
`mdh.torch` and `mdh.jax` register such operators.
"""
