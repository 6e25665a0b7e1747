"""How often each line of a kernel text runs, by the loops that are written around it.

Texts of mdh are indented by blocks, and bounds of loops are numbers, or those of levels whose parts the plan
knows. A loop with other bounds counts as one run: it copies the rest of a tile, or draws work until there is
none."""

import re
from collections.abc import Mapping

_LOOP = re.compile(r"\s*for \((?:int|long|size_t|unsigned) (\w+) = (-?\d+|[^;]+); \1 < (-?\d+|[^;]+); (.*)\)")
_STEP = re.compile(r"\+= (\d+)")


def trips_of(source: str, parts: Mapping[str, int]) -> tuple[int, ...]:
    """The number of runs of each line, for one unit. parts: of the levels that loops are named after."""
    around: list[tuple[int, int]] = []
    out = []
    for row in source.split("\n"):
        body, depth = row.strip(), len(row) - len(row.lstrip())
        if body and not body.startswith(("#", "}", "{")):
            while around and around[-1][0] >= depth:
                around.pop()
        loop = _LOOP.match(row)
        if loop is not None:
            around.append((depth, _runs(loop, parts)))
        # a loop's own line counts as inside of it: its comparison runs with the body
        out.append(_product(around))
    return tuple(out)


def _product(around: list[tuple[int, int]]) -> int:
    found = 1
    for _, runs in around:
        found *= runs
    return found


def _runs(loop: re.Match[str], parts: Mapping[str, int]) -> int:
    start, stop, step = loop[2], loop[3], _STEP.search(loop[4])
    if start.lstrip("-").isdecimal() and stop.lstrip("-").isdecimal():
        return max(1, -(-(int(stop) - int(start)) // (int(step[1]) if step else 1)))
    if loop[1] not in parts and stop.isdecimal() and step is not None:
        # threads begin at different places of the first step
        return max(1, int(stop) // int(step[1]))
    return parts.get(loop[1], 1)


def headers_of(source: str) -> frozenset[int]:
    """The lines, from 1, that begin a loop."""
    return frozenset(n for n, row in enumerate(source.split("\n"), 1) if re.match(r"\s*for \(", row))
