"""`--dump STAGE` and `--time`: show the values of the pipeline and their times on stderr, and `--dump
lower.PASS` the kernel after a pass."""

from dataclasses import dataclass, field

from mdh.cli.command_line import CommandLine
from mdh.cli.console import note
from mdh.ir.kernel import Kernel
from mdh.lower.passes.table import PASS_NAMES
from mdh.pipeline import Pipeline, Value
from mdh.report.dump import dump_text
from mdh.report.module_text import kernel_text
from mdh.wording import meant

STAGES = ("program", "schedule", "plan", "kernel", "text")
"""The values of the pipeline, in order."""
PASSES = tuple(f"lower.{name}" for name in PASS_NAMES)
"""Words for the kernel after each pass; `all` does not include them."""


@dataclass
class Trace:
    """Shows the values of the pipeline and their times as asked."""

    shown: frozenset[str] = frozenset()
    timed: bool = False
    times: list[tuple[str, float]] = field(default_factory=list)
    _passed: set[str] = field(default_factory=set)

    @property
    def pipeline(self) -> Pipeline:
        return Pipeline(self, self._after_pass)

    @staticmethod
    def of(
        line: CommandLine, dump: tuple[str, ...], timed: bool, stages: tuple[str, ...] = STAGES
    ) -> "Trace":
        """A trace for the words of --dump. stages: those that the command reaches. Raises Failed F113 for an
        unknown word."""
        known = f"stages: {', '.join(stages)}, all; a pass is lower.NAME"
        for word in dump:
            arrow = "kernel" if word in PASSES else word
            if arrow in STAGES and arrow not in stages:
                headline = f"`{line.words[0]}` stops at the {stages[-1]}, before there is a {arrow}"
                raise line.fail("F113", headline, word, help=known)
            if word.startswith("lower.") and word not in PASSES:
                hint = meant(word, PASSES, always=f"passes: {', '.join(PASSES)}")
                raise line.fail("F113", f"no pass `{word}`", word, help=hint)
            if word != "all" and arrow not in STAGES:
                raise line.fail("F113", f"no stage `{word}`", word, help=meant(word, stages, always=known))
        return Trace(frozenset((*dump, *stages) if "all" in dump else dump), timed)

    def _after_pass(self, name: str, kernel: Kernel) -> None:
        """The lowering's observer."""
        self._passed.add(f"lower.{name}")
        if f"lower.{name}" in self.shown:
            note(f"--- lower.{name}\n{kernel_text(kernel)}")

    def __call__(self, stage: str, value: Value | None, seconds: float, /) -> None:
        """The pipeline's hook."""
        self.times.append((stage, seconds))
        if stage == "kernel":
            for word in sorted(self.shown & {*PASSES} - self._passed):
                note(f"--- {word}\nthis pass does not apply to these kernels\n")
        if value is not None and stage in self.shown:
            note(f"--- {stage}\n{dump_text(value)}")
        if self.timed:
            note(f"{stage:<12}{seconds * 1e3:10.2f} ms\n")
