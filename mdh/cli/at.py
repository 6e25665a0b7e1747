"""`--at M=100,N=64`: the values of open sizes at which `mdh run` runs a kernel."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from random import Random

from mdh.cli.command_line import CommandLine, at_word
from mdh.diagnostics import Failed
from mdh.ir.open_size import OpenSize
from mdh.ir.program import Program
from mdh.schedule.cases import Defines, Table, bound_sizes

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
    return _of_ranges(program.opens, seed)


def table_points(
    line: CommandLine, words: Sequence[str], table: Table, program: Program, defines: Defines, seed: int
) -> list[dict[str, int]]:
    """The sizes of each run of a table: those of each `--at`, else those that -D binds and, of the others,
    the ends of the ranges of each case and some between them. program: with the ranges that hold all cases.
    Raises Failed F107, and A111 for sizes that no case takes."""
    fixed = {r.name: r.value for r in table.hull if r.value is not None} | bound_sizes(table, defines)
    if words:
        out = [{**fixed, **_point(line, word, program)} for word in words]
        for word, point in zip(words, out, strict=True):
            at_word(line, word, partial(table.at, point))
        return out
    others = [o for o in program.opens if o.name not in table.names]
    out = []
    for case in table.cases:
        out += [{**point, **fixed} for point in _of_ranges([*table.ranges(case), *others], seed)]
    return [point for n, point in enumerate(out) if point not in out[:n]]


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


def _of_ranges(ranges: Sequence[OpenSize], seed: int) -> list[dict[str, int]]:
    """The ends of ranges and some sizes between them; one empty point without ranges."""
    rng = Random(seed)
    out = [{s.name: s.least for s in ranges}, {s.name: s.most for s in ranges}]
    for _ in range(SOME if ranges else 0):
        out.append({s.name: rng.randrange(s.least, s.most + 1, s.multiple) for s in ranges})
    return [point for n, point in enumerate(out) if point not in out[:n]]


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
