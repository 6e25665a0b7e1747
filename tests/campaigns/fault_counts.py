"""What campaigns of faults of the machine found: sums, and the page about them."""

import argparse
from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class Counts:
    """What campaigns found, in sums. proposed, measured: good candidates; wrong: why one was booked as bad;
    longest, median, limit: seconds of a trial; seconds: of the longest campaign."""

    title: str
    faults: dict[str, int]
    proposed: int
    measured: int
    wrong: list[str]
    left: list[str]
    longest: float
    median: float
    limit: float
    said: int
    seconds: float

    @property
    def good(self) -> bool:
        return not self.left and self.proposed == self.measured and self.longest < self.limit


def summed(parts: list[Counts]) -> Counts:
    faults: Counter[str] = Counter()
    for part in parts:
        faults.update(part.faults)
    return Counts(
        parts[0].title,
        dict(faults),
        sum(p.proposed for p in parts),
        sum(p.measured for p in parts),
        [why for p in parts for why in p.wrong],
        [what for p in parts for what in p.left],
        max(p.longest for p in parts),
        sorted(p.median for p in parts)[len(parts) // 2],
        parts[0].limit,
        sum(p.said for p in parts),
        max(p.seconds for p in parts),
    )


def report(given: argparse.Namespace, found: Counts) -> str:
    again = f"--machine {given.machine} --device {given.device} --seed {given.seed}"
    again += f" --campaigns {given.campaigns}" if given.campaigns > 1 else ""
    lines = [
        "# Faults of the machine",
        "",
        f"`./scripts/fault-run {again}` prints this table again ({found.title}).",
        "",
        f"- injected: {sum(found.faults.values())} faults in {found.seconds:.0f} s",
        f"- good candidates measured: {found.measured} of {found.proposed} that were proposed",
        f"- booked wrong: {len(found.wrong)}",
        f"- left behind: {len(found.left)} processes or files",
        f"- longest trial: {found.longest:.1f} s (stated limit {found.limit:.0f} s), median"
        f" {found.median:.2f} s",
        f"- remarks to the user: {found.said}",
        "",
        "| fault | times |",
        "|---|---:|",
        *(f"| {name} | {times} |" for name, times in sorted(found.faults.items())),
    ]
    lines += [f"\n- {n} booked wrong: {why}" for why, n in Counter(found.wrong).items()]
    lines += [f"\n- left: {what}" for what in found.left]
    return "\n".join(lines) + "\n"
