"""The checker: a schedule to a Plan, the proof that it is legal for a program and a machine.

`run.check` is the way in; `rules` has one file a family of rules. The function of Python programs is
mdh.api.compile.check.
"""
