"""Builds, judges and times candidates in processes of their own, which may hang, crash or become unusable.

`local` is the bench of one machine. `building` and `measuring` run in its worker processes (`worker`,
`process`), `judging` verifies results, and `timing` times them. `failures`, `outcomes` and `outage` decide
whether the candidate or the machine is at fault.
"""
