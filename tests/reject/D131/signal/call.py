from mdh.diagnostics import fail
from mdh.tuner.measure.failures import crashed

outcome = crashed("build", -11, "LLVM ERROR: out of memory")
raise fail(outcome.code, outcome.message)
