"""`--at M=100,N=64`: the values of open sizes at which `mdh run` runs a kernel."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from random import Random

from mdh.cli.command_line import CommandLine
from mdh.diagnostics import Failed
from mdh.frontend.open_program import closed
from mdh.ir.plan import Plan
from mdh.ir.program import Program

SOME = 3
"""Sizes between the ends of the ranges that are run where none are given."""


def points(line: CommandLine, words: Sequence[str], program: Program, seed: int) -> list[dict[str, int]]:
    """The sizes of each run: those of each `--at`, else the ends of the ranges and some between them. One
    empty point for a program without open sizes. Raises Failed F107."""
    if words and not program.opens:
        hint = "leave a size open: -D M=1..4096"
        raise line.fail("F107", "--at gives values to open sizes, and none is open", "--at", help=hint)
    if words:
        return [_point(line, word, program) for word in words]
    return _drawn(program, seed)


def _point(line: CommandLine, word: str, program: Program) -> dict[str, int]:
    ranges = {s.name: s for s in program.opens}
    example = ",".join(f"{s.name}={s.most}" for s in program.opens)
    out: dict[str, int] = {}
    for part in word.split(","):
        name, _, text = part.strip().partition("=")
        if name not in ranges or name in out or not text.strip().isdecimal():
            headline = f"--at `{word}` does not give each open size one value"
            raise line.fail("F107", headline, word, help=f"write --at {example}")
        out[name] = int(text)
        if not ranges[name].takes(out[name]):
            headline = f"--at gives the open size `{name}` the value {out[name]}"
            raise line.fail("F107", headline, word, help=f"its kernel takes {ranges[name].legal}")
    if missing := [name for name in ranges if name not in out]:
        headline = f"--at `{word}` gives no value to the open size `{missing[0]}`"
        raise line.fail("F107", headline, word, help=f"write --at {example}")
    return out


def _drawn(program: Program, seed: int) -> list[dict[str, int]]:
    rng, opens = Random(seed), program.opens
    out = [{s.name: s.least for s in opens}, {s.name: s.most for s in opens}]
    for _ in range(SOME if opens else 0):
        out.append({s.name: rng.randrange(s.least, s.most + 1, s.multiple) for s in opens})
    return [point for n, point in enumerate(out) if point not in out[:n]]


def plan_at(plan: Plan, sizes: Mapping[str, int]) -> Plan:
    """The plan with what its program is at these sizes, for judges and reports. The steps stay those of the
    kernel for all sizes."""
    if not plan.program.opens:
        return plan
    stages = []
    for stage in plan.stages:
        program = closed(stage.program, sizes)
        mine = next(s for s in program.stages if s.name == stage.stage.name)
        stages.append(replace(stage, program=program, stage=mine))
    return replace(plan, program=closed(plan.program, sizes), stages=tuple(stages))


@contextmanager
def at_sizes(sizes: Mapping[str, int]) -> Iterator[None]:
    """Errors of a run say at which open sizes it was."""
    try:
        yield
    except Failed as failed:
        if not sizes:
            raise
        note = f"with {point_text(sizes)}"
        raise Failed(*(replace(d, notes=(*d.notes, note)) for d in failed.diagnostics)) from failed


def point_text(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sizes.items())
