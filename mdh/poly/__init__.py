"""Proofs about integer sets, by isl.

`legality` proves that the stages keep every dependence of the C text, `races` that the points of a stage may
run in parallel, `coverage` that the tiles of a schedule cover each point once. `parallel_loops` finds loops
around turns whose iterations do not depend on one another. `implied` simplifies
conditions, and `widths` measures stages.
"""
