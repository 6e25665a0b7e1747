"""What was measured, a line each: a header, what a library takes for some sizes, and schedules of ours.

{"schema": "mdh.default_fit/1", "machine": "h200", ...}
{"sizes": [M, N, K], "library": seconds}
{"sizes": [M, N, K], "tile": [rows, columns, warp's, warp's, thread's, thread's, depth, ahead],
 "parts": 6, "seconds": 7.35e-05, "registers": 78, "spilled": bytes if any, "adding": true if blocks add them}

seconds are a warm call's, where the header does not say otherwise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.fit_default.files import WrongFileError, lines, only
from mdh.schedule.default.ladder import BlockTile

SCHEMA = "mdh.default_fit/1"
Sizes = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Row:
    """A schedule that computed the right results. parts: of the sum; adding: blocks add them to the output,
    else a second kernel does."""

    sizes: Sizes
    tile: BlockTile
    parts: int
    seconds: float
    registers: int
    spilled: int = 0
    adding: bool = False

    def line(self) -> dict[str, Any]:
        out = {"sizes": self.sizes, "tile": numbers(self.tile), "parts": self.parts}
        out |= {"seconds": self.seconds, "registers": self.registers, "spilled": self.spilled}
        return out | {"adding": True} if self.adding else out


@dataclass(frozen=True)
class Measured:
    """One or several files. library: seconds by sizes."""

    machine: str
    rows: list[Row] = field(default_factory=list)
    library: dict[Sizes, float] = field(default_factory=dict)

    def by_sizes(self) -> Mapping[Sizes, list[Row]]:
        out: dict[Sizes, list[Row]] = {}
        for row in self.rows:
            out.setdefault(row.sizes, []).append(row)
        return out


def numbers(tile: BlockTile) -> list[int]:
    return [*tile.block, *tile.warp, *tile.thread, tile.depth, tile.ahead]


def tile_of(n: Sequence[int]) -> BlockTile:
    return BlockTile((n[0], n[1]), (n[2], n[3]), (n[4], n[5]), n[6], n[7])


def read(paths: Sequence[Path]) -> Measured:
    """All files together; of what was measured twice, the faster time."""
    found: dict[tuple[Sizes, BlockTile, int, bool], Row] = {}
    library: dict[Sizes, float] = {}
    machines = set[str]()
    for path in paths:
        try:
            for line in lines(path, SCHEMA):
                _take(line, machines, library, found)
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise WrongFileError(f"{path}: {error}") from error
    return Measured(only(machines), list(found.values()), library)


def _take(
    line: dict[str, Any],
    machines: set[str],
    library: dict[Sizes, float],
    found: dict[tuple[Sizes, BlockTile, int, bool], Row],
) -> None:
    if "schema" in line:
        machines.add(str(line["machine"]))
        return
    m, n, k = line["sizes"]
    sizes = (int(m), int(n), int(k))
    if "library" in line:
        library[sizes] = min(float(line["library"]), library.get(sizes, float("inf")))
        return
    tile, parts, seconds = tile_of(line["tile"]), int(line["parts"]), float(line["seconds"])
    adding = bool(line.get("adding", False))
    known = found.get((sizes, tile, parts, adding))
    if known is None or seconds < known.seconds:
        spilled = int(line.get("spilled", 0))
        row = Row(sizes, tile, parts, seconds, int(line["registers"]), spilled, adding)
        found[sizes, tile, parts, adding] = row
