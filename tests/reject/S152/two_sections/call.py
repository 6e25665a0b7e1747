from mdh.checker.run import check
from mdh.machine import load_machine
from mdh.schedule.model import Schedule, Section
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from tests.check.programs import matmul

step = parse_schedule(
    Source("schedule.mdh", "1: (de-)comp( 8,8,^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )\n")
).sections[0]
twice = Schedule((Section("C", step.steps, (), step.span), Section("C", step.steps, (), step.span)))
check(matmul(), twice, load_machine("a100"), "cuda")
