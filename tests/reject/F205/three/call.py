from mdh.diagnostics import fail
from mdh.tuner.cluster.refusals import unlucky

outcome = unlucky(3, "its connection broke")
raise fail(outcome.code, outcome.message)
