"""Builds the tile tree of a stage from the steps of its schedule: loops, units, and which tiles lie where.

`tiles` is the entry point. `levels` cuts dimensions into digits, `order` puts loops in code order, `accesses`
and `image` find the part of a buffer that a copy holds, and `regions` where partial results live.
"""
