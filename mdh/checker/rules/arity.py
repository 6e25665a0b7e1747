"""K101: every step has one tile and one core a dimension, and one memory entry a buffer."""

from collections.abc import Iterator

from mdh.checker.subject import Draft, at, listed, step_name
from mdh.diagnostics import Diagnostic
from mdh.schedule.model import Step
from mdh.source import Span
from mdh.wording import plural

CODE = "K101"
OTHER_PROGRAM = "S150"


def check_arity(draft: Draft) -> Iterator[Diagnostic]:
    """For each step: |tiles| = |cores| = |dims|, |inputs| = |arrays read only|, |outputs| = |arrays written|.

    If all steps agree on other numbers, the schedule was written for another program (S150).
    """
    shapes = {_shape(step) for step in draft.steps}
    wanted = (len(draft.stage.dims), len(draft.inputs), len(draft.outputs), len(draft.stage.dims))
    if len(shapes) == 1 and wanted not in shapes and len(draft.steps) > 1:
        yield _other_program(draft, next(iter(shapes)))
        return
    for n, step in enumerate(draft.steps, start=1):
        yield from _step(draft, step, n)


def _shape(step: Step) -> tuple[int, int, int, int]:
    return len(step.tiles), len(step.inputs), len(step.outputs), len(step.cores)


def _other_program(draft: Draft, shape: tuple[int, int, int, int]) -> Diagnostic:
    dims, inputs, outputs, _ = shape
    theirs = f"{plural(dims, 'dimension')}, {plural(inputs, 'input')} and {plural(outputs, 'output')}"
    ours = f"{len(draft.stage.dims)}, {len(draft.inputs)} and {len(draft.outputs)}"
    fact = f"its steps have {theirs}, stage `{draft.stage.name}` has {ours}"
    headline = f"a schedule of another program: {fact}"
    return Diagnostic(OTHER_PROGRAM, headline, at(draft.steps[0].span), help=_entries(draft))


def _entries(draft: Draft) -> str:
    return (
        f"dimensions {listed(draft.dim_names)}; inputs {listed(draft.inputs) or 'none'}; "
        f"outputs {listed(draft.outputs)}"
    )


def _step(draft: Draft, step: Step, n: int) -> Iterator[Diagnostic]:
    name = step_name(step, n)
    dims = draft.dim_names
    groups: tuple[tuple[str, int, tuple[str, ...], tuple[Span | None, ...]], ...] = (
        ("tile", len(step.tiles), dims, tuple(t.span for t in step.tiles)),
        ("core", len(step.cores), dims, tuple(c.span for c in step.cores)),
        ("input entry", len(step.inputs), draft.inputs, tuple(m.span for m in step.inputs)),
        ("output entry", len(step.outputs), draft.outputs, tuple(m.span for m in step.outputs)),
    )
    for what, count, names, spans in groups:
        if count == len(names):
            continue
        noun = "dimension" if what in ("tile", "core") else what.split()[0]
        given = plural(count, what).replace("entrys", "entries")
        headline = (
            f"{name} has {given}, stage `{draft.stage.name}` has {plural(len(names), noun)}: "
            f"{listed(names) or 'none'}"
        )
        place = spans[len(names)] if count > len(names) else spans[-1] if spans else step.span
        label = "one too many" if count > len(names) else f"{names[count]} is missing after this"
        yield Diagnostic(
            CODE, headline, at(place or step.span, label), help=f"write one {what} for each, in this order"
        )
