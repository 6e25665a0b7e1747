"""Random programs of stages of which many know nothing of one another, and schedules that join launches."""

from random import Random

from mdh.checker.beside import independent
from mdh.ir.program import Program
from mdh.machine import Machine
from tests.support.random_schedules import steps_of
from tests.support.random_stages import LEAST, RandomStages, declare, finish, in_loop, reader


def random_beside(seed: int) -> RandomStages:
    """Readers of inputs, and now and then of what others have made; some of them in a loop."""
    d = RandomStages(Random(f"beside {seed}"), False)
    d.floats = d.chance(0.65)
    for name in "AB":
        declare(d, name, tuple(d.rng.randint(LEAST, 40) for _ in range(d.rng.choice((1, 2, 2)))))
    d.types["I"], d.shapes["I"] = "int", (12,)
    d.inputs = ("A", "B")
    made: list[str] = []
    count = d.rng.choice((2, 3, 3, 4, 5))
    first = d.rng.randrange(count) if d.chance(0.3) else count
    for n in range(count):
        if n == first:
            before, d.nests = d.nests, []
        d.whole = ["A", "B", *(name for name in made if d.chance(0.25))]
        reader(d, f"O{n}", most=40)
        made.append(f"O{n}")
    if first < count:
        d.nests = [*before, in_loop(d, d.nests)]
    finish(d)
    return d


def beside_schedule(program: Program, machine: Machine, seed: int) -> str:
    """Steps for some of the stages, and launches of two or three that are mostly independent."""
    rng = Random(f"beside {seed}")
    free = list(program.stages)
    hosts: dict[str, str] = {}
    while len(free) > 1 and (not hosts or rng.random() < 0.5):
        host, *others = rng.sample(free, min(len(free), rng.choice((2, 2, 3))))
        some = [s for s in others if rng.random() < 0.15 or independent(program, host, s)]
        hosts |= {s.name: host.name for s in some}
        free = [s for s in free if s not in (host, *some)]
    lines: list[str] = []
    # steps that are drawn for a GPU are often refused by themselves
    share, some = (0.6, 0.5) if machine.kind == "cpu" else (0.15, 0.2)
    every = rng.random() < share
    for stage in program.stages:
        how = f" beside {hosts[stage.name]}" if stage.name in hosts else ""
        if every or rng.random() < some:
            steps = steps_of(rng, program, stage, machine)
            lines += [f"stage {stage.name}{how} {{", *(f"  {s}" for s in steps), "}"]
        elif how:
            lines.append(f"stage {stage.name}{how}")
    return "\n".join(lines) + "\n"
