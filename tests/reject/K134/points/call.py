from dataclasses import replace

from mdh.checker.run import check
from mdh.frontend.c.read import read_program
from mdh.ir.dtype import F32, I32
from mdh.ir.expr import Binary, Const, Load, Var
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.source import Source

text = "void shift(float x[8]) { for (int i = 0; i < 7; i++) x[i] = 2 * x[i]; }"
program = read_program(Source("shift.c", text))
(stage,) = program.stages
(result,) = stage.results
after = Load("x", (Binary("+", Var("i"), Const(1, I32), I32),), F32)
wrong = replace(program, stages=(replace(stage, results=(replace(result, values=(after,)),)),), statements=())
machine = load_machine("a100")
check(wrong, default_schedule(wrong, machine, "cuda"), machine, "cuda")
