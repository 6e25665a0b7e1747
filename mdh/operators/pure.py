"""Whether results depend on the inputs alone: each element is written before anything reads it."""

from mdh.diagnostics import Diagnostic, Failed, fail
from mdh.ir.program import Program
from mdh.operators.form import CODE, Form
from mdh.poly.elements import StageAccess, whole, writes_of


def demand_pure(program: Program, form: Form) -> None:
    """Raises Failed A121 for a result that may keep elements of what it held before the call, or reads them.
    Requires a program without open sizes."""
    found = [d for n in form.results for d in _faults(program, n)]
    if found:
        raise Failed(*found)


def _faults(program: Program, name: str) -> tuple[Diagnostic, ...]:
    array, extents = program.buffer_of[name], dict(program.turns)
    written: list[StageAccess] = []
    for stage in program.stages:
        ranges = {**extents, **{d.name: d.extent for d in stage.dims}}
        if name in stage.read and not whole(array.shape, written):
            what = f"`{program.name}` reads what `{name}` holds before the call"
            hint = f"write all of `{name}` first, or say that it is changed in place: mutates=({name!r},)"
            return fail(CODE, what, array.span, help=hint).diagnostics
        if name in stage.written:
            written += writes_of(program, stage, name, ranges)
    if whole(array.shape, written):
        return ()
    what = f"it is not proven that `{program.name}` writes all elements of `{name}`"
    hint = f"write all of them, or say that it is changed in place: mutates=({name!r},)"
    return fail(CODE, what, array.span, help=hint).diagnostics
