"""`--dump STAGE` and `--time`: what the pipeline's hook shows on stderr after each arrow."""

from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from time import perf_counter
from typing import TypeVar

from mdh.cli.command_line import CommandLine
from mdh.cli.console import note
from mdh.report.dump import Dumped, dump_text

T = TypeVar("T", bound=Dumped)
STAGES = ("program", "schedule", "plan", "kernel", "text")
"""The values between the arrows, in order."""


@dataclass
class Trace:
    """Runs arrows; shows their values and times as asked."""

    shown: frozenset[str] = frozenset()
    timed: bool = False
    times: list[tuple[str, float]] = field(default_factory=list)

    @staticmethod
    def of(line: CommandLine, dump: tuple[str, ...], timed: bool) -> "Trace":
        """Raises Failed F113 for a word that is no stage."""
        for word in dump:
            if word != "all" and word not in STAGES:
                near = get_close_matches(word, STAGES, 1, 0.5)
                said = f"did you mean `{near[0]}`? " if near else ""
                known = f"stages: {', '.join(STAGES)}, all"
                raise line.fail("F113", f"no stage `{word}`", word, help=said + known)
        return Trace(frozenset(STAGES if "all" in dump else dump), timed)

    def run(self, stage: str, arrow: Callable[[], T]) -> T:
        """The arrow's value, after it has been shown."""
        start = perf_counter()
        value = arrow()
        self.after(stage, value, perf_counter() - start)
        return value

    def after(self, stage: str, value: Dumped, seconds: float) -> None:
        self.times.append((stage, seconds))
        if stage in self.shown:
            note(f"--- {stage}\n{dump_text(value)}")
        if self.timed:
            note(f"{stage:<10}{seconds * 1e3:10.2f} ms\n")
