"""The tuner: takes a schedule with holes and returns the best schedule without holes, and a record of every
trial.

Files of this folder start and end a tuning. `order` describes what is tuned, `start` opens the devices,
`session` makes the space, `conduct` runs the loop, and `outputs` writes the files. The loop proposes
points, drops those that the checker or the cost model rejects, and has the others built, checked and timed:

- `space` counts the points of a schedule with holes, and makes the schedule of each. It is exact: every
  point that it offers satisfies the constraints on sizes.
- `search` proposes points by a method (evolution, or one of Optuna's samplers); `warm_start` and
  `local_search` propose schedules that are known or near to good ones. `candidates` decides which of them
  are worth a measurement.
- `measure` builds and times a candidate in processes that may crash or hang; `cluster` does it on other
  machines.
- `records` writes every trial to a file, from which an interrupted tuning goes on.
- `loop` has the state of a run, says when it ends, and measures the finalists again.
- `over` tunes a table for ranges of sizes. `runtime` holds signals, threads and processors of this process.

The function for Python programs is mdh.api.tune.tune.
"""
