"""K115: a stage has a bounded number of steps, so that proofs about it stay small."""

from collections.abc import Iterator

from mdh.checker.subject import Draft, at
from mdh.diagnostics import Diagnostic

CODE = "K115"
MOST_STEPS = 32
"""Twice the number of memory and core layers of any machine. isl proves a chain of 32 splits in 0.3 s."""


def check_depth(draft: Draft) -> Iterator[Diagnostic]:
    """The number of steps of a stage is at most 32."""
    if len(draft.steps) > MOST_STEPS:
        headline = f"stage `{draft.stage.name}` has {len(draft.steps)} steps"
        labels = at(draft.steps[MOST_STEPS].span, f"step {MOST_STEPS + 1}")
        yield Diagnostic(
            CODE, headline, labels, help=f"a stage has at most {MOST_STEPS} steps: join some of them"
        )
