"""What was measured of each kernel, and the file that keeps it from one run to the next."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

import msgspec

OURS, SHIPPED, PLAIN, DIRECTIVES = "default", "shipped", "gcc", "directives"
LEAST = 3
"""Quiet rounds that are enough to leave the others out."""


@dataclass(frozen=True, slots=True)
class Round:
    """Seconds of a call, by contestant. quiet: other processes used little of the processors."""

    seconds: dict[str, float]
    quiet: bool


@dataclass(slots=True)
class Row:
    """code: with which mdh refuses the kernel; empty if it does not. verdicts: contestant to `right`, or to
    what went wrong. judge: what mdh's own judge said; empty if it was not asked."""

    name: str
    code: str = ""
    why: str = ""
    verdicts: dict[str, str] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)
    judge: str = ""

    @property
    def ours(self) -> str:
        """The contestant that stands for mdh: the shipped schedule, if there is one."""
        return SHIPPED if self.verdicts.get(SHIPPED) == "right" else OURS

    @property
    def quiet(self) -> bool:
        return sum(r.quiet for r in self.rounds) >= LEAST

    def seconds(self, name: str) -> float | None:
        """The median of a contestant's turns."""
        found = [r.seconds[name] for r in self._kept() if name in r.seconds]
        return median(found) if found else None

    def ratio(self, name: str, ours: str = "") -> float | None:
        """The median of a contestant's time over ours."""
        mine = ours or self.ours
        pairs = [(r.seconds[name], r.seconds[mine]) for r in self._kept() if {name, mine} <= r.seconds.keys()]
        return median(peer / own for peer, own in pairs) if pairs else None

    def _kept(self) -> Sequence[Round]:
        return [r for r in self.rounds if r.quiet] if self.quiet else self.rounds


def load(path: Path, versions: Mapping[str, str]) -> dict[str, Row]:
    """Earlier rows by their names; none of another machine or of another compiler."""
    if not path.exists():
        return {}
    held = json.loads(path.read_text(encoding="utf-8"))
    if held["versions"] != dict(versions):
        return {}
    return {row["name"]: msgspec.convert(row, Row) for row in held["rows"]}


def save(path: Path, versions: Mapping[str, str], rows: Mapping[str, Row]) -> None:
    held = {"versions": dict(versions), "rows": [asdict(rows[name]) for name in sorted(rows)]}
    path.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
