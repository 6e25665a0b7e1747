"""Proofs about integer sets, by isl.

`legality` proves that the stages keep every dependence of the C text, `races` that the points of a stage
may run in parallel, `coverage` that the tiles of a schedule cover each point once, `inlining` and
`recomputation` that a stage may be computed where it is read. `touching` asks which points of two stages
touch one element; by it `parallel_loops` finds loops around turns whose iterations do not depend on one
another, and `wavefronts` pairs of loops that can be skewed. `dataflow` finds the values that a read may
see. `implied` simplifies conditions, and `widths` measures stages.

A proof that fails yields the two points that break it, which the message shows.
"""
