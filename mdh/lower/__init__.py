"""Plan to Module.

`run` lowers stage after stage, each by its class: `stages` maps and reductions, `scan` prefix sums, `scatter`
histograms. Each makes one or more kernels, which come about in four steps.

1. A `Nest` (`nest`) holds what the kernel is made of: the plan of a stage, its tile tree, the results
   (`fold`), and the regions of partial results (`regions`). It is frozen. What the code declares while it is
   written, `declarations` collects.
2. `emit` walks over the loops and steps of the tile tree, from outside in, and hands on a `Scope` (`scope`):
   what is known at that place, and what stands inside of the loops. Steps copy inputs (`copies`, `window`,
   `pipeline_loop`); regions open and close around their loops (`close`, `finish`); innermost stand the
   statements of a point (`point`, `scan_parts`, `scatter_point`).
3. Blocks join their results (`cluster`, `ticket`, `look_back`), threads theirs (`threads`, `scan_threads`).
4. `kernel_of` binds units to hardware (`launch`), and runs the passes (`passes.table`).

At the edges of the iteration space `trip_counts` says where loops end, `unguarded` which points beyond may be
computed, and `overread` what those may read.
"""
