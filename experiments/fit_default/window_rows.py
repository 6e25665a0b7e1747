"""What was measured of convolutions, a line each: a header, plans, and schedules that ship.

{"schema": "mdh.window_fit/1", "machine": "h200", ...}
{"program": "conv2d_56", "sizes": {"N": 1, ...}, "plan": {"block": {"p": 7, ...}, "thread": {"q": 4, ...},
 "slices": {"c": 8}, "part": {"c": 64}, "parts": 1}, "seconds": 1.35e-05, "registers": 80, "spilled": bytes}
{"program": ..., "sizes": ..., "schedule": "conv2d_56/h200/strips", "seconds": ..., "registers": ...}

A plan's tiles are by loops of the program; `registers` is left out where the compiler did not say. Where the
sum has one part, that is all of it. A schedule is the one that shipped by its name when it was measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.fit_default.files import WrongFileError, lines, only

SCHEMA = "mdh.window_fit/1"
Named = tuple[tuple[str, int], ...]
"""Numbers by name."""


@dataclass(frozen=True, slots=True)
class Convolution:
    """A program of inputs_c, and its sizes."""

    program: str
    sizes: Named

    def __str__(self) -> str:
        return f"{self.program} {' '.join(f'{name}={n}' for name, n in self.sizes)}"


@dataclass(frozen=True, slots=True)
class Tiles:
    """A plan by loops, as `mdh.schedule.default.window_plans` has it by dims. part: of one loop."""

    block: Named
    thread: Named
    slices: Named
    part: Named
    parts: int

    def line(self) -> dict[str, Any]:
        named = ((n, dict(getattr(self, n))) for n in ("block", "thread", "slices", "part"))
        return {**dict(named), "parts": self.parts}

    def __str__(self) -> str:
        block, thread, slices = (
            " ".join(f"{name}{n}" for name, n in tiles) for tiles in (self.block, self.thread, self.slices)
        )
        return f"block {block}, thread {thread}, slice {slices}, {self.parts} part{'s' * (self.parts > 1)}"


@dataclass(frozen=True, slots=True)
class Row:
    """A plan, or the name of a schedule that ships, which computed the right results. registers: 0 where the
    compiler did not say."""

    of: Convolution
    what: Tiles | str
    seconds: float
    registers: int = 0
    spilled: int = 0

    def line(self) -> dict[str, Any]:
        out: dict[str, Any] = {"program": self.of.program, "sizes": dict(self.of.sizes)}
        out |= {"schedule": self.what} if isinstance(self.what, str) else {"plan": self.what.line()}
        out["seconds"] = self.seconds
        if self.registers:
            out |= {"registers": self.registers, "spilled": self.spilled}
        return out


@dataclass(frozen=True)
class Measured:
    """One or several files. rows: of plans. shipped: seconds of the fastest schedule that
    shipped when they were measured."""

    machine: str
    rows: Mapping[Convolution, Sequence[Row]] = field(default_factory=dict)
    shipped: Mapping[Convolution, float] = field(default_factory=dict)


def read(paths: Sequence[Path]) -> Measured:
    """All files together; of what was measured twice, the faster time."""
    found: dict[tuple[Convolution, Tiles | str], Row] = {}
    machines = set[str]()
    for path in paths:
        try:
            first, *rest = lines(path, SCHEMA)
            machines.add(str(first["machine"]))
            for line in rest:
                if "schema" in line:
                    raise ValueError("has two headers")
                row = _row(line)
                known = found.get((row.of, row.what))
                if known is None or row.seconds < known.seconds:
                    found[row.of, row.what] = row
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise WrongFileError(f"{path}: {error}") from error
    rows: dict[Convolution, list[Row]] = {}
    shipped: dict[Convolution, float] = {}
    for row in found.values():
        if isinstance(row.what, str):
            shipped[row.of] = min(row.seconds, shipped.get(row.of, row.seconds))
        else:
            rows.setdefault(row.of, []).append(row)
    if not rows:
        raise WrongFileError(f"no plan in {', '.join(map(str, paths))}")
    return Measured(only(machines), rows, shipped)


def _row(line: Mapping[str, Any]) -> Row:
    program = line["program"]
    if not program.isidentifier():
        raise ValueError(f"{program!r} is no program")
    of = Convolution(program, _named(line["sizes"]))
    what = str(line["schedule"]) if "schedule" in line else _tiles(line["plan"])
    seconds = float(line["seconds"])
    if not 0 < seconds < float("inf"):
        raise ValueError(f"{seconds} is no time")
    return Row(of, what, seconds, int(line.get("registers", 0)), int(line.get("spilled", 0)))


def _tiles(plan: Mapping[str, Any]) -> Tiles:
    block, thread, slices, part = (_named(plan[n]) for n in ("block", "thread", "slices", "part"))
    return Tiles(block, thread, slices, part, _positive(plan["parts"]))


def _named(numbers: Mapping[str, Any]) -> Named:
    """In the order of the file for sizes and tiles alike: `measure-windows` always writes the same one."""
    return tuple((str(name), _positive(n)) for name, n in numbers.items())


def _positive(n: Any) -> int:
    if not isinstance(n, int) or n < 1:
        raise ValueError(f"{n!r} is no tile, size or number of parts")
    return n
