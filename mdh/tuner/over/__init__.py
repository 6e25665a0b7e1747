"""Tunes for ranges of sizes: a schedule for each cell of the ranges, then the table that is fastest in all.

cells.py splits the ranges, choice.py decides from times which schedule serves which sizes, and run.py tunes,
measures every schedule at sizes of every cell, and makes the table.
"""
