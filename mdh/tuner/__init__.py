"""The tuner: a schedule with holes in, the best schedule without them out, and a record of every trial.

`order` is what is tuned, `start` opens the devices and `session` the space, `conduct` runs the loop,
`outputs` are its files. The function of Python programs is mdh.api.tune.tune.
"""
