from mdh.diagnostics import fail
from mdh.tune.measure.failures import timed_out

outcome = timed_out("launch", 30.0)
raise fail(outcome.code, outcome.message)
