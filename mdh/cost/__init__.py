"""The cost model: what a stage has to do, and the seconds that it will take, before anything is compiled.

`predict` reads a Plan. It goes through one stage at a time, in four steps:

1. `work`: what the stage computes, whatever its schedule is: instructions of a point, widths of results.
   Reports count operations and bytes with the same functions. What the stage loads and stores, and the box
   of elements that an access touches while some loops run, is in `mdh.decompose.accesses`.
2. `nest`: the tile tree as a list of levels: blocks of the grid, loops, lanes of vectors. Every access knows
   by how many bytes each level moves it, in memory or in its innermost copy.
3. `reuse`: the bytes that a cache of some size has to fetch (stack distances of nested loops). `warp`: the
   cycles that memory takes for one access of a warp (lines of global memory, banks of shared memory).
4. `gpu_terms` or `cpu_terms`: the seconds of each resource at the machine's nominal speeds: arithmetic,
   loads, each cache, device memory, waiting, launches. `prediction` multiplies each by a constant and joins
   them; terms of resources that work at the same time overlap.

`fit` corrects the constants with times that were measured, as long as the order of predictions gains by it.

Default schedules are chosen before there is a Plan. `gpu` has the parts that need none: the speeds of a
multiprocessor, how many blocks it holds, transfers, and how terms overlap. `gpu.seconds` is made of them: an
estimate of a sum by blocks from the sizes of its tiles. `gpu_terms` is made of the same parts.

An estimate ranks schedules of one program. It is no promise of seconds.
"""
