"""K180, K181, K182: stages that calls of a library compute."""

from collections.abc import Collection, Iterable, Mapping

from mdh.checker.subject import at
from mdh.decompose.contraction import product_of
from mdh.decompose.matrix_call import matrix_call
from mdh.diagnostics import Diagnostic, Failed
from mdh.ir.expr import Const, Expr
from mdh.ir.library_call import LibraryCall
from mdh.ir.plan import Grid, StagePlan
from mdh.ir.program import CALLS, Program, Stage
from mdh.language import LANGUAGES
from mdh.schedule.model import How, Library, Section, Within

WHAT, WHERE, WHICH = "K180", "K181", "K182"
CALLED = {"c": ("openblas",)}
"""The libraries that texts of a language can call."""

LARGE = 1 << 18
"""Multiplications of one call from which on a default schedule prefers it to a kernel."""


def called(
    program: Program, stage: Stage, section: Section, target: str, *, deterministic: bool
) -> StagePlan:
    """The plan of a stage that a library computes.

    Raises Failed. K182: mdh does not call the library here. K180: the stage computes something else than the
    library. K181: no call takes its arrays as they lie.
    """
    how = section.how
    assert isinstance(how, Library)
    found = library_call(program, stage, how.name, target, deterministic=deterministic)
    if not isinstance(found, LibraryCall):
        code, why, hint = found
        headline = f"`{how.name}` cannot compute stage `{stage.name}`: {why}"
        hint = hint or f"leave `= library({how.name})` out: the stage then has a kernel of its own"
        raise Failed(Diagnostic(code, headline, at(how.span or section.span), help=hint))
    return StagePlan(program, stage, (), (), Grid(), (), call=found)


_Unfit = tuple[str, str, str]
"""A code, the reason, and what to do instead (empty: the usual)."""


def library_call(
    program: Program, stage: Stage, library: str, target: str, *, deterministic: bool
) -> LibraryCall | _Unfit:
    """The calls of a library that compute a stage; or why there are none."""
    unfit = _absent(library, target)
    if unfit is not None:
        return unfit
    if deterministic:
        return WHICH, "--deterministic fixes the order of its sums, and no library promises one", ""
    named = {b.name: b for b in program.buffers if b.name in stage.read | stage.written}
    if any(d.open is not None for d in stage.dims) or any(b.open for b in named.values()):
        return WHAT, "its sizes are open", "bind the sizes: `-D M=1024`"
    product = product_of(program, stage)
    if isinstance(product, str):
        return WHAT, product, ""
    if any(map(_is_zero, (product.alpha, product.beta))):
        return WHAT, "a factor of it is always 0", ""
    if product.out.buffer in (product.left.buffer, product.right.buffer):
        return WHAT, f"`{product.out.buffer}` is a factor and the result", ""
    constant = next((b.name for b in named.values() if b.values is not None), None)
    if constant is not None:
        return WHERE, f"`{constant}` is a constant array, which is in no memory of the call", ""
    call = matrix_call(product, library)
    return (WHERE, call, "") if isinstance(call, str) else call


def _absent(library: str, target: str) -> _Unfit | None:
    """K182 if texts of a language do not call the library."""
    here = CALLED.get(target, ())
    if library in here:
        return None
    title = LANGUAGES[target].title
    other = next((t for t, names in CALLED.items() if library in names), None)
    if other is not None:
        why = f"texts in {LANGUAGES[other].title} call it, and this one is {title}"
        return WHICH, why, f"use device `{other}`"
    known = ", ".join(f"`{name}` (device `{t}`)" for t, names in CALLED.items() for name in names)
    return WHICH, "this version of mdh does not call it", f"libraries that it calls: {known}"


def _is_zero(e: Expr | None) -> bool:
    return isinstance(e, Const) and e.value == 0


def with_calls(
    program: Program, sections: Mapping[str, Section], among: Collection[str], target: str, *,
    deterministic: bool,
) -> dict[str, Section]:  # fmt: skip
    """The sections, with calls of libraries in place of kernels if the user lets default schedules call them.
    among: the stages that may change."""
    out = dict(sections)
    for name, found in choices(program, target, deterministic=deterministic).items():
        section, call = out.get(name), found.call
        if section is None or name not in among or section.how is not How.KERNEL:
            continue
        if call.m * call.n * call.k >= LARGE:
            out[name] = Section(name, (), how=Library(found.library), derived=True)
    return out


def hosts_of(sections: Iterable[Section]) -> set[str]:
    """The stages that compute other ones in their kernels."""
    return {s.how.reader for s in sections if isinstance(s.how, Within)}


def choices(program: Program, target: str, *, deterministic: bool) -> dict[str, LibraryCall]:
    """The stages that a library may compute, by their names; none if the user does not let mdh choose it."""
    if CALLS not in program.allowed:
        return {}
    out = {}
    for stage in program.stages:
        for library in CALLED.get(target, ()):
            found = library_call(program, stage, library, target, deterministic=deterministic)
            if isinstance(found, LibraryCall):
                out[stage.name] = found
    return out
