"""`--dump STAGE` and `--time`: what the pipeline's hook shows on stderr after each arrow."""

from dataclasses import dataclass, field
from difflib import get_close_matches

from mdh.cli.command_line import CommandLine
from mdh.cli.console import note
from mdh.pipeline import Pipeline, Value
from mdh.report.dump import dump_text

STAGES = ("program", "schedule", "plan", "kernel", "text")
"""The values between the arrows, in order."""


@dataclass
class Trace:
    """Shows the values between the arrows and their times as asked."""

    shown: frozenset[str] = frozenset()
    timed: bool = False
    times: list[tuple[str, float]] = field(default_factory=list)

    @property
    def pipeline(self) -> Pipeline:
        return Pipeline(self)

    @staticmethod
    def of(
        line: CommandLine, dump: tuple[str, ...], timed: bool, stages: tuple[str, ...] = STAGES
    ) -> "Trace":
        """`stages`: those that the verb reaches. Raises Failed F113 for a word that is none of them."""
        known = f"stages: {', '.join(stages)}, all"
        for word in dump:
            if word in STAGES and word not in stages:
                headline = f"`{line.words[0]}` stops at the {stages[-1]}, before there is a {word}"
                raise line.fail("F113", headline, word, help=known)
            if word != "all" and word not in STAGES:
                near = get_close_matches(word, stages, 1, 0.5)
                said = f"did you mean `{near[0]}`? " if near else ""
                raise line.fail("F113", f"no stage `{word}`", word, help=said + known)
        return Trace(frozenset(stages if "all" in dump else dump), timed)

    def __call__(self, stage: str, value: Value | None, seconds: float, /) -> None:
        """The pipeline's hook."""
        self.times.append((stage, seconds))
        if value is not None and stage in self.shown:
            note(f"--- {stage}\n{dump_text(value)}")
        if self.timed:
            note(f"{stage:<12}{seconds * 1e3:10.2f} ms\n")
