"""What measuring found, as values: the tuner and comparisons make them, and reports are made of them.

`trial` is one measurement with what it was asked for, `variable` one decision that a schedule leaves open,
`goal` when a search ends, `tuning` a whole run of the tuner, `comparison` schedules side by side.
"""
