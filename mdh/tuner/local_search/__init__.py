"""Local search around a schedule: any part of it may be changed, and the checker decides what is legal.

There is a module of changes for each group of the schedule's parts. `neighbours` is the search, with the same
interface to the tuner's loop as the searches over holes.
"""
