import numpy as np

from mdh.diagnostics import Failed
from mdh.reference import evaluate_bounded
from mdh.verify.arguments import guarded
from mdh.verify.verdict import judge
from tests.check.programs import matmul

program = matmul(2, 2, 2)
before = {name: np.ones((2, 2), np.float32) for name in "ABC"}
held = {name: guarded(array) for name, array in before.items()}
held["C"].array[...] = 3.0
held["C"].array[1, 0] = 7.0
raise Failed(*judge(program, before, held, evaluate_bounded(program, before, exact=True)))
