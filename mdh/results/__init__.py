"""The results of measuring, as values. The tuner and comparisons make them, and reports are made of them.

`trial` is one measurement with its request, `variable` one decision that a schedule leaves open, `goal` says
when a search ends, `tuning` is a whole run of the tuner, and `comparison` compares schedules.
"""
