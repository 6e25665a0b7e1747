from pathlib import Path

from mdh.checker.run import check
from mdh.frontend.c.read import read_program
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source

c, schedule = (Source(name, Path(name).read_text()) for name in ("input.c", "schedule.mdh"))
check(read_program(c), parse_schedule(schedule), load_machine("a100"), "cuda")
