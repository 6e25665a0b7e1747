from mdh.diagnostics import fail
from mdh.tune.measure.failures import crashed

outcome = crashed("build", -11, "LLVM ERROR: out of memory")
raise fail(outcome.code, outcome.message)
