"""K105 to K107: core layers exist, nest outer to inner in code order, and each axis is split once."""

from collections.abc import Iterator

from mdh.checker.loops import code_loops
from mdh.checker.subject import Subject, listed, parts, step_name
from mdh.diagnostics import Diagnostic
from mdh.hardware import Layer
from mdh.ir.layout import Level
from mdh.ir.plan import StagePlan
from mdh.language import LANGUAGES

UNKNOWN, NESTING, TWICE = "K105", "K106", "K107"
ELSEWHERE = (Layer.NOD, Layer.DEV, Layer.MMA)
"""Layers that no target has yet; other rules report them."""


def check_known_layers(subject: Subject) -> Iterator[Diagnostic]:
    """K105: for each split over layer l: l is a layer of the target language."""
    language = LANGUAGES[subject.target]
    for s, step in enumerate(subject.plan.steps):
        for split in step.splits:
            if split.layer is not None and split.layer not in language.layers:
                given = f"{parts(split.parts)} of `{subject.dim(split.dim)}`"
                headline = f"{split.layer} is not a layer of {language.short}, and it has {given}"
                known = listed(n for n in Layer if n in language.layers and n not in ELSEWHERE)
                yield Diagnostic(
                    UNKNOWN,
                    headline,
                    subject.at_core(s, split.dim),
                    help=f"layers of {language.short}: {known}",
                )


def misplaced(plan: StagePlan) -> Iterator[tuple[Level, Level]]:
    """Each loop over a core layer that lies inside a loop over a deeper one, with that one."""
    deepest: Level | None = None
    for loop in code_loops(plan):
        if loop.layer is None:
            continue
        if deepest is None or deepest.layer is None or loop.layer.depth > deepest.layer.depth:
            deepest = loop
        elif loop.layer.depth < deepest.layer.depth:
            yield loop, deepest


def check_nesting(subject: Subject) -> Iterator[Diagnostic]:
    """K106: for loops a before b in code order, both over core layers: layer(a) is not inside of layer(b)."""
    steps = subject.plan.steps
    told: set[int] = set()
    for loop, inner in misplaced(subject.plan):
        if loop.step in told:
            continue
        told.add(loop.step)
        outer_step, inner_step = (step_name(steps[x.step], steps[x.step].number) for x in (loop, inner))
        headline = f"{loop.layer} of {outer_step} lies inside {inner.layer} of {inner_step} in code order"
        labels = subject.at_core(loop.step, loop.dim, f"{loop.layer} is outside of {inner.layer}")
        labels += subject.at_core(inner.step, inner.dim, "the inner layer, opened first")
        order = " ".join(tuple(Layer)[:-1])
        yield Diagnostic(
            NESTING, headline, labels, help=f"outer to inner: {order}; exchange the labels of the steps"
        )


def check_axis_once(subject: Subject) -> Iterator[Diagnostic]:
    """K107: for each (layer, axis): at most one split has more than one part."""
    taken: dict[tuple[str, int], tuple[int, int]] = {}
    for s, step in enumerate(subject.plan.steps):
        for split in step.splits:
            if split.layer is None:
                continue
            key = (split.layer, split.axis)
            if key not in taken:
                taken[key] = (s, split.dim)
                continue
            letters = "mnk" if split.layer == Layer.MMA else "xyz"
            name = f"{split.layer}.{letters[split.axis]}"
            first = taken[key]
            headline = (
                f"{name} is split twice: for `{subject.dim(first[1])}` and for `{subject.dim(split.dim)}`"
            )
            free = [f"{split.layer}.{letters[a]}" for a in range(3) if (split.layer, a) not in _axes(subject)]
            labels = subject.at_core(s, split.dim, "again") + subject.at_core(*first, "first here")
            said = (
                f"free axes: {listed(free)}"
                if free
                else f"all axes of {split.layer} are taken: use FOR or `^`"
            )
            yield Diagnostic(TWICE, headline, labels, help=said)


def _axes(subject: Subject) -> set[tuple[str, int]]:
    return {(x.layer, x.axis) for step in subject.plan.steps for x in step.splits if x.layer is not None}
