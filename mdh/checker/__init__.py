"""The checker: proves that a schedule is legal for a program and a machine, and returns the Plan.

`run.check` is the entry point. `rules` has one file for each family of rules. The function for Python
programs is mdh.api.compile.check.
"""
