from dataclasses import replace

from mdh.checker.run import check
from mdh.frontend.c.read import read_program
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.source import Source

text = """void sweep(float a[8], float b[8]) {
  for (int i = 0; i < 7; i++)
    b[i] = a[i] + a[i + 1];
  for (int i = 0; i < 8; i++)
    a[i] = 0;
}
"""
program = read_program(Source("sweep.c", text))
first, second = program.stages
swapped = tuple(
    replace(s, placement=replace(s.placement, stage=1 - s.placement.stage)) for s in program.statements
)
wrong = replace(program, stages=(second, first), statements=swapped)
machine = load_machine("a100")
check(wrong, default_schedule(wrong, machine, "cuda"), machine, "cuda")
