from mdh.diagnostics import fail
from mdh.tuner.measure.failures import timed_out

outcome = timed_out("launch", 30.0)
raise fail(outcome.code, outcome.message)
