"""Checks the statements of a function without its sizes: names, ranks, reductions, updates in place,
calls."""

from collections.abc import Mapping

from mdh.diagnostics import Diagnostic, Failed, Label, fail
from mdh.frontend.tc.ranges import EMPTY, accesses_of, names_in
from mdh.frontend.tc.syntax import (
    Application,
    CallStatement,
    Definition,
    Expression,
    ExtentOf,
    NameUse,
    TcFunction,
    walk,
)
from mdh.frontend.tc.types import KNOWN, base_of, cast_of, float_form, is_function, unknown_function
from mdh.frontend.token_stream import Word
from mdh.ir.dtype import DType
from mdh.source import Span
from mdh.wording import meant, plural

NAME, TENSOR, RANK, FUNCTION = "T102", "T104", "T105", "T106"
REDUCTION, TARGET, IN_PLACE, CALL = "T107", "T108", "T109", "T115"


def check(
    s: Definition | CallStatement,
    f: TcFunction,
    inputs: Mapping[str, DType],
    scalars: Mapping[str, DType],
    ranks: dict[str, int],
    callees: Mapping[str, tuple[TcFunction, Mapping[str, int]]],
) -> None:
    """Raises for what is wrong about a statement; notes the ranks of its targets."""
    targets = (s.target,) if isinstance(s, Definition) else s.targets
    for t in targets:
        if t.text in inputs or t.text in scalars:
            raise fail(
                TARGET,
                f"`{t.text}` is a parameter, which is never changed",
                t.span,
                help="give the result a name of its own",
            )
    if isinstance(s, CallStatement):
        _check_call(s, ranks, *callees[s.function.text])
        return
    fixed = _extent_names(f) | set(scalars)
    _check_indices(s, fixed, scalars)
    rank = ranks.get(s.target.text)
    if rank is not None and rank != len(s.indices):
        what = f"`{s.target.text}` has {_indices(rank)} elsewhere, {len(s.indices)} here"
        raise fail(RANK, what, s.span, help="give it as many in each statement")
    known = {**ranks, s.target.text: len(s.indices)}
    for e in (s.value, *(x for r in s.ranges for x in (r.first, r.end))):
        _check_value(e, known, scalars)
        _check_single(e, known, fixed | {w.text for w in s.indices})
    own = accesses_of(s.value, (s.target.text,))
    if rank is None and s.target.text not in {r.text for r in f.results}:
        _check_first(s, own)
    _check_reduction(s, fixed)
    _check_in_place(s, own, fixed)
    _check_ranges(s, fixed)
    ranks[s.target.text] = len(s.indices)


def _check_indices(s: Definition, fixed: set[str], scalars: Mapping[str, DType]) -> None:
    """Raises Failed T108 if the target repeats an index, or has a size or a scalar in place of one."""
    seen = set[str]()
    for w in s.indices:
        if w.text in fixed:
            what = f"`{w.text}` is a {'scalar' if w.text in scalars else 'size'}, not an index"
            raise fail(TARGET, what, w.span, help="name the index otherwise")
        if w.text in seen:
            what = f"the index `{w.text}` stands twice in `{s.target.text}(…)`"
            raise fail(TARGET, what, w.span, help="each position has an index of its own")
        seen.add(w.text)


def _check_first(s: Definition, own: list[Application]) -> None:
    """The first statement of a temporary tensor finds no values in it. own: its accesses of the tensor."""
    if own:
        what = f"`{s.target.text}` is read before it is computed"
        raise fail(TENSOR, what, own[0].span, help="define it by a statement of its own first")
    if s.reduction and not s.fresh:
        what = f"the reduction adds to `{s.target.text}`, which has no values yet"
        raise fail(TENSOR, what, s.target.span, help=f"begin anew: {s.span.text} {s.reduction}=! …")


def _extent_names(f: TcFunction) -> set[str]:
    return {n.text for p in f.parameters for n in p.extents if isinstance(n, Word)}


def _check_value(e: Expression, ranks: Mapping[str, int], scalars: Mapping[str, DType]) -> None:
    for x in walk(e):
        if isinstance(x, ExtentOf) and x.tensor not in ranks:
            raise _unknown(x.tensor, x.span, ranks)
        if isinstance(x, ExtentOf) and x.position >= ranks[x.tensor]:
            raise fail(
                RANK, f"`{x.tensor}` has {plural(ranks[x.tensor], 'position')}, counted from 0", x.span
            )
        if not isinstance(x, Application):
            continue
        if x.name in ranks:
            if len(x.arguments) != ranks[x.name]:
                raise fail(
                    RANK,
                    f"`{x.name}` has {_indices(ranks[x.name])}, {len(x.arguments)} are given",
                    x.span,
                    help=f"write {x.name}({', '.join('ijklmnopq'[: ranks[x.name]])})",
                )
        elif x.name in scalars:
            raise fail(RANK, f"`{x.name}` is a scalar, which has no indices", x.span, help=f"write {x.name}")
        elif not is_function(x.name):
            raise _unknown(x.name, x.span, ranks)
        else:
            _check_arity(x)


def _check_single(e: Expression, ranks: Mapping[str, int], others: set[str]) -> None:
    """Raises Failed T105 for a tensor of one element without parentheses, which would be an index. others:
    names that are something else."""
    for u in names_in(e):
        if ranks.get(u.name) == 0 and u.name not in others:
            what = f"`{u.name}` is a tensor of one element, not an index"
            raise fail(RANK, what, u.span, help=f"write {u.name}()")


def _check_arity(x: Application) -> None:
    base = base_of(x.name)
    count = 1 if cast_of(x.name) or x.name == "abs" else 2 if float_form(x.name) else KNOWN[base or x.name]
    if len(x.arguments) != count:
        raise fail(
            FUNCTION,
            f"`{x.name}` takes {plural(count, 'argument')}, {len(x.arguments)} are given",
            x.span,
            help=f"write {x.name}({', '.join('xyz'[:count])})",
        )


def _unknown(name: str, span: Span, ranks: Mapping[str, int]) -> Failed:
    near = meant(name, ranks, cutoff=0.7, otherwise="")
    if near or name[:1].isupper() or not name.islower():
        known = ", ".join(f"`{n}`" for n in ranks)
        return fail(
            TENSOR,
            f"the tensor `{name}` is not defined here",
            span,
            help=near or f"tensors up to here: {known}",
        )
    return unknown_function(name, span, list(ranks))


def _check_reduction(s: Definition, fixed: set[str]) -> None:
    kept = {w.text for w in s.indices} | fixed
    extra = next((u for u in names_in(s.value) if u.name not in kept), None)
    if extra is not None and not s.reduction:
        what = f"`{extra.name}` stands only on the right, so it is reduced, and `=` says by no operator"
        raise fail(
            REDUCTION, what, extra.span, help=f"write {s.span.text} +=! …, or put `{extra.name}` on the left"
        )


def _check_in_place(s: Definition, own: list[Application], fixed: set[str]) -> None:
    """A statement may read its own target at the element that it writes; all is read before anything is
    written."""
    here = tuple(w.text for w in s.indices)
    for a in own:
        there = tuple(e.name if isinstance(e, NameUse) else None for e in a.arguments)
        if there != here or s.fresh or any(u.name not in {*here, *fixed} for u in names_in(s.value)):
            what = f"`{s.target.text}` is read at other elements than the one that is written"
            if there == here:
                what = f"a reduction into `{s.target.text}` reads `{s.target.text}` itself"
            raise fail(IN_PLACE, what, a.whole, help="store the values in another tensor first")


def _check_ranges(s: Definition, fixed: set[str]) -> None:
    seen = set[str]()
    named = {w.text for w in s.indices} | {u.name for u in names_in(s.value)}
    for r in s.ranges:
        if r.index.text in fixed:
            raise fail(TARGET, f"`{r.index.text}` is a size or a scalar, not an index", r.index.span)
        if r.index.text in seen:
            raise fail(NAME, f"`{r.index.text}` has two ranges", r.index.span, help="give it one")
        if r.index.text not in named:
            raise fail(
                NAME, f"the statement has no index `{r.index.text}`", r.index.span, help="leave its range out"
            )
        for e in (r.first, r.end):
            other = next((u for u in names_in(e) if u.name not in fixed), None)
            if other is not None:
                raise fail(
                    EMPTY,
                    f"a range depends on `{other.name}`, which is an index",
                    other.span,
                    help="ranges are boxes: use sizes and numbers",
                )
        seen.add(r.index.text)


def _check_call(s: CallStatement, ranks: dict[str, int], f: TcFunction, results: Mapping[str, int]) -> None:
    """results: the ranks of what the function computes."""
    tensors = [p for p in f.parameters if p.extents]
    if len(tensors) != len(f.parameters):
        raise fail(
            CALL,
            f"`{f.name.text}` takes scalars, and calls pass tensors alone",
            s.function.span,
            help="write its statements here",
        )
    for given, wanted, what in ((s.arguments, f.parameters, "tensor"), (s.targets, f.results, "result")):
        if len(given) != len(wanted):
            raise fail(
                CALL,
                f"`{f.name.text}` has {plural(len(wanted), what)}, {len(given)} are given",
                s.function.span,
            )
    for a, p in zip(s.arguments, f.parameters, strict=True):
        if a.text not in ranks:
            raise _unknown(a.text, a.span, ranks)
        if ranks[a.text] != len(p.extents):
            labels = (Label(a.span), Label(p.name.span, "the parameter"))
            headline = f"`{a.text}` has {_indices(ranks[a.text])}, `{p.name.text}` {len(p.extents)}"
            raise Failed(Diagnostic(RANK, headline, labels))
    for t, r in zip(s.targets, f.results, strict=True):
        if t.text in ranks:
            raise fail(
                TARGET,
                f"`{t.text}` is computed before, and a call computes it anew",
                t.span,
                help="give the result a name of its own",
            )
        ranks[t.text] = results[r.text]


def _indices(count: int) -> str:
    return "1 index" if count == 1 else f"{count} indices"
