"""The tuner: takes a schedule with holes and returns the best schedule without holes, and a record of every
trial.

`order` describes what is tuned, `start` opens the devices, `session` makes the space, `conduct` runs the
loop, and `outputs` writes the files. The function for Python programs is mdh.api.tune.tune.
"""
