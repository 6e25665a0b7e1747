"""The page about candidates that hang: rows of devices, each of them read back from the page."""

import re
from dataclasses import dataclass
from pathlib import Path

LATE, MEMORY, TIMING = 2.0, 64.0, 0.02
"""What is asked: seconds after the limit, MiB of a GPU, part of a time."""
HEAD = """\
# Candidates that hang

`./scripts/timeout-run --devices {devices}` prints these tables again. Candidates hang one after the other, in
their build or their launch, in the tuner's bench; a good candidate is timed right after each, and once more.

- *gone after*: seconds from the limit until the last process of the worker is gone.
- *left*: processes and files after the bench is closed.
- *next time*: the time right after a hang against the times beside it, as the median over all hangs, with
  the range that holds it at 95 %; *noise*: how far two times beside a hang lie apart, as a median.
- *attempts*: a build that only waits may wait for the machine, so it is tried again before it is believed.

| device | hung | kills | limit, s | gone after, s | worst | left | GPU memory, MiB | next time | noise | s |
|---|---|---|---|---|---|---|---|---|---|---|
{rows}

| device | where it hangs | candidates | class | attempts | gone after, worst, s |
|---|---|---|---|---|---|
{kinds}
"""


@dataclass(frozen=True, slots=True)
class Kind:
    """Candidates that hang at one place. told: their classes; attempts: for each; worst: seconds after the
    limit."""

    name: str
    count: int
    told: str
    attempts: float
    worst: float


@dataclass(frozen=True, slots=True)
class Row:
    """late, worst: seconds after the limit; processes, files: left; memory: MiB more than before a hang, at
    most; after: of the next time, low to high: where it lies; noise: between two times beside each other."""

    device: str
    title: str
    limit: float
    hung: int
    kills: int
    late: float
    worst: float
    processes: int
    files: int
    memory: float | None
    after: float
    low: float
    high: float
    noise: float
    seconds: float
    kinds: tuple[Kind, ...]

    @property
    def kept(self) -> bool:
        """All that is asked."""
        classes = all(kind.told == f"{kind.count} timeout" for kind in self.kinds)
        memory = self.memory is None or self.memory <= MEMORY
        return (
            classes and self.worst <= LATE and not self.processes and not self.files
            and memory and abs(self.after) <= TIMING
        )  # fmt: skip

    @property
    def lines(self) -> tuple[list[str], list[str]]:
        """Of both tables."""
        memory = "" if self.memory is None else f"{self.memory:+.0f}"
        cells = (
            f"{self.device} ({self.title})", self.hung, self.kills, f"{self.limit:g}", f"{self.late:.2f}",
            f"{self.worst:.2f}", f"{self.processes} processes, {self.files} files", memory,
            f"{self.after:+.2%} ({self.low:+.2%} to {self.high:+.2%})", f"{self.noise:.2%}",
            f"{self.seconds:.0f}",
        )  # fmt: skip
        return [f"| {' | '.join(map(str, cells))} |"], [
            f"| {self.device} | {k.name} | {k.count} | {k.told} | {k.attempts:.1f} | {k.worst:.2f} |"
            for k in self.kinds
        ]


Lines = tuple[list[str], list[str]]


def kept(path: Path, rows: list[Row]) -> list[Lines]:
    """Lines of the page that are about other devices than these."""
    if not path.exists():
        return []
    text, mine = path.read_text(encoding="utf-8"), {row.device for row in rows}
    found: dict[str, Lines] = {}
    for line in text.splitlines():
        about = re.match(r"\| (c|\w+:\d+)( \(.*?\))? \| ", line)
        if about is not None and about[1] not in mine:
            found.setdefault(about[1], ([], []))[0 if about[2] else 1].append(line)
    return list(found.values())


def page(rows: list[Lines | Row]) -> str:
    lines = [row.lines if isinstance(row, Row) else row for row in rows]
    firsts, kinds = [one for both in lines for one in both[0]], [one for both in lines for one in both[1]]
    devices = ",".join(line.split()[1] for line in firsts)
    return HEAD.format(devices=devices, rows="\n".join(firsts), kinds="\n".join(kinds))
