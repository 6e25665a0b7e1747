"""Plan to Module.

`run` lowers a stage by its class: `emit` nests, `scan` prefix sums, `scatter` histograms. `copies` and
`window` fill buffers, `close` and `finish` combine partial results, `pipeline_loop` overlaps copies with
computation, `ticket`, `look_back` and `cluster` combine results across blocks. `idle` says which points past
an edge may compute, `past` what they may read, `factor` takes common factors out of sums. `dependent_launch`
finds the kernels that may start before those in front of them have ended. `kernel_of` finishes a kernel by
the passes.
"""
