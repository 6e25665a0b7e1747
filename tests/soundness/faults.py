"""Faults planted in the search for stages and in the proof: the campaign has to find each of them.

A fault replaces names of modules, in a process of its own. It is found where a random program that is equal
without it is wrong, or ends in a traceback, with it. What a fault merely refuses is no
danger.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from mdh.frontend import dependences, fuse, merge, pieces, program, scans, updates
from mdh.frontend.c import body
from mdh.frontend.statements import Assign
from mdh.ir.affine import Affine, from_expr
from mdh.ir.expr import Load, Var, loads
from mdh.ir.program import DimKind, Operator
from mdh.ir.statement import Phase, PlacedStatement
from mdh.poly import legality
from mdh.poly.sets import before
from tests.soundness.faults_natural import NATURAL_FAULTS
from tests.soundness.faults_varying import VARYING_FAULTS
from tests.soundness.generator import NATURAL_FROM, VARYING_FROM, random_statements
from tests.soundness.trial import Ready, examined
from tests.soundness.verdict import Verdict
from tests.support.workers import run_tasks

Patch = tuple[Any, str, Any]
"""Module, name, what it is replaced by."""


@dataclass(frozen=True, slots=True)
class Found:
    """seed: of the first program that shows the fault, None where no program does; tried: how many were."""

    fault: str
    seed: int | None
    tried: int
    detail: str = ""


@contextmanager
def planted(patches: Sequence[Patch]) -> Iterator[None]:
    before = [(m, n, getattr(m, n)) for m, n, _ in patches]
    try:
        for m, n, new in patches:
            setattr(m, n, new)
        yield
    finally:
        for m, n, old in before:
            setattr(m, n, old)


# the proof


def _filtered(keep: Callable[[PlacedStatement, Any], bool]) -> Patch:
    """Accesses for which `keep` does not hold are forgotten."""
    old = dependences._placed

    def new(*args: Any) -> PlacedStatement:
        s = old(*args)
        numbers = [k for k, a in enumerate(s.statement.accesses) if keep(s, a)]
        carried = frozenset(n for n, k in enumerate(numbers) if k in s.placement.carried)
        kept = tuple(s.statement.accesses[k] for k in numbers)
        return replace(
            s, statement=replace(s.statement, accesses=kept), placement=replace(s.placement, carried=carried)
        )

    return dependences, "_placed", new


def _unproven(lost: Callable[[legality.Broken], bool]) -> list[Patch]:
    """Broken dependences for which `lost` holds are overlooked."""
    old: Callable[..., Iterator[legality.Broken]] = legality.broken_dependences

    def new(*args: Any) -> Iterator[legality.Broken]:
        return (b for b in old(*args) if not lost(b))

    return [(dependences, "broken_dependences", new)]


def _placement(**changes: Any) -> Patch:
    old = dependences._placed
    return dependences, "_placed", lambda *args: replace(
        old(*args), placement=replace(old(*args).placement, **changes)
    )  # fmt: skip


def _all_carried() -> list[Patch]:
    old = dependences._placed

    def new(*args: Any) -> PlacedStatement:
        s = old(*args)
        every = frozenset(range(len(s.statement.accesses)))
        return replace(s, placement=replace(s.placement, carried=every))

    return [(dependences, "_placed", new)]


def _near_index(e: Any) -> Affine | None:
    """Any subscript as the loop variable it names alone."""
    found = from_expr(e)
    return None if found is None else Affine.of({n: abs(k) for n, k in found.terms}, 0)


def _no_condition(s: Assign) -> Iterator[Load]:
    read = (s.value, *s.target.index) if isinstance(s, Assign) else (*s.targets, *s.values)
    for e in read:
        yield from loads(e)


def _without_last_iteration(a: Any, b: Any, x: Any, y: Any, need: Any, *, ordered: bool) -> Any:
    """The last iteration of each loop is forgotten."""
    first, second = [
        replace(s, statement=replace(s.statement, loops=tuple(replace(v, extent=max(1, v.extent - 1)) for v in
                                                              s.statement.loops)))
        for s in (a, b)
    ]  # fmt: skip
    return _lost(first, second, x, y, need, ordered=ordered)


_lost = legality._lost


def _same_iteration_only(a: list[str], b: list[str], *, equal: bool) -> str:
    return (
        before(a, b, equal=equal)
        if not a
        else " and ".join(f"({p} = {q})" for p, q in zip(a, b, strict=True))
    )


def _other_iterations_only(a: list[str], b: list[str], *, equal: bool) -> str:
    return before(a, b, equal=False)


def _first_coordinate(p: Any, q: Any, *, scanned: bool) -> Any:
    return _coordinates(p, q, scanned=scanned)[:1]


_coordinates = legality._coordinates


# the search for stages


def _swapped(made: Any) -> Any:
    """The last two stages in the other order."""

    def new(groups: Any, *args: Any, **named: Any) -> Any:
        out = made(groups, *args, **named)
        return (*out[:-2], *out[:-3:-1])

    return new


def _merging_unproven() -> list[Patch]:
    """What has been merged is not looked at again."""
    old = dependences.check_dependences

    def new(groups: Any, statements: Any) -> Any:
        if all(len(g) == 1 and len(g[0].members) == 1 for g in groups):
            return old(groups, statements)
        return ()

    return [(merge, "keeps", lambda *_: True), (program, "check_dependences", new)]


def _kept_value(f: Callable[[Any], Any], old: Callable[..., Any]) -> Callable[..., Any]:
    """What `old` returns, changed by `f` where it is something."""

    def new(*args: Any, **named: Any) -> Any:
        found = old(*args, **named)
        return None if found is None else f(found)

    return new


def _plain_start(piece: Any) -> Any:
    return replace(piece, starts=tuple(None for _ in piece.starts))


def _unread() -> list[Patch]:
    old = merge._without_unread

    def new(out: Any, number: int, temps: Any, text: Any) -> Any:
        at = next(k for k, p in enumerate(out) if p.accumulator == number) + 1
        return [*old(out[:at], number, temps, text), *out[at:]]

    return [(merge, "_without_unread", new)]


def _other_operator() -> list[Patch]:
    old = pieces._best
    turned = {"first": "last", "last": "first"}

    def new(*args: Any) -> Any:
        p = old(*args)
        assert p.op is not None
        return replace(p, op=Operator(p.op.name, turned[p.op.tie], p.op.nan))

    return [(pieces, "_best", new)]


def _any_renaming(a: Any, b: Any, m: Any, r: Any) -> Any:
    """Loops matched one after another, whatever the subscripts are."""
    kept = [v.name for v, k in zip(r.loops, r.kinds, strict=True) if k is DimKind.CC]
    if len(m.loops) != len(kept) or len(a) != len(b):
        return None
    if any(
        v.extent != w.extent for v, w in zip(m.loops, (w for w in r.loops if w.name in kept), strict=True)
    ):
        return None
    return {v.name: Var(k) for v, k in zip(m.loops, kept, strict=True)}


FAULTS: dict[str, Callable[[], list[Patch]]] = {
    "no proof at all": lambda: _unproven(lambda b: True),
    "merged pieces are not proven": _merging_unproven,
    "pieces that share an array are not looked at": lambda: [
        (dependences, "_share", lambda p, q: False),
        *_merging_unproven()[1:],
    ],
    "flow dependences are overlooked": lambda: _unproven(lambda b: b.access.write and not b.other.write),
    "anti dependences are overlooked": lambda: _unproven(lambda b: b.other.write and not b.access.write),
    "output dependences are overlooked": lambda: _unproven(lambda b: b.access.write and b.other.write),
    "dependences between two statements are overlooked": lambda: _unproven(
        lambda b: b.first.number != b.second.number
    ),
    "a statement's dependence on itself is overlooked": lambda: _unproven(
        lambda b: b.first.number == b.second.number
    ),
    "a statement's first read is dropped": lambda: [
        _filtered(lambda s, a: a.write or a.position != min(x.position for x in s.statement.accesses))
    ],
    "the reads of starts are dropped": lambda: [
        _filtered(lambda s, a: a.write or s.placement.phase != Phase.START)
    ],
    "the writes of epilogues are dropped": lambda: [
        _filtered(lambda s, a: not a.write or s.placement.phase < Phase.FINISH)
    ],
    "the reads of epilogues are dropped": lambda: [
        _filtered(lambda s, a: a.write or s.placement.phase < Phase.FINISH)
    ],
    "the reads of conditions are dropped": lambda: [(dependences, "_loads", _no_condition)],
    "subscripts that are data meet nothing": lambda: [
        _filtered(lambda s, a: all(i is not None for i in a.index))
    ],
    "subscripts lose their offsets and signs": lambda: [(dependences, "from_expr", _near_index)],
    "the last iteration is forgotten": lambda: [(legality, "_lost", _without_last_iteration)],
    "only one iteration is looked at": lambda: [(legality, "before", _same_iteration_only)],
    "one iteration's own order is forgotten": lambda: [(legality, "before", _other_iterations_only)],
    "only the first coordinate of a point counts": lambda: [(legality, "_coordinates", _first_coordinate)],
    "every access meets in the accumulator": _all_carried,
    "accumulators of different statements are one": lambda: [_placement(accumulator=0)],
    "the order of two stages is swapped": lambda: [(program, "_stages", _swapped(program._stages))],
    "any renaming of loops will do": lambda: [
        (merge, "_renaming", _any_renaming), *_merging_unproven()
    ],
    "every start is the operator's identity": lambda: [
        (merge, "_begun", _kept_value(_plain_start, merge._begun))
    ],
    "arrays of the function's own are not stored": _unread,
    "conditions are dropped": lambda: [
        (pieces, "guarded", lambda target, value, conds: value), (pieces, "select", lambda cond, a, b: a)
    ],
    "updates are joined past what lies between": lambda: [(fuse, "conflicting", lambda a, b: False)],
    "the other side of a branch has the same condition": lambda: [(body, "negation", lambda cond: cond)],
    "ties go the other way": _other_operator,
    "running values are stored after the update": lambda: [
        (pieces, "_running", _kept_value(lambda p: replace(p, exclusive=False), pieces._running))
    ],
    "prefix sums begin at 0": lambda: [
        (pieces, "prefix_of", _kept_value(lambda p: replace(p, start=None), scans.prefix_of))
    ],
    "a minimum is a maximum": lambda: [
        (pieces, "update_of", _kept_value(_mistaken, updates.update_of))
    ],
    **VARYING_FAULTS,
    **NATURAL_FAULTS,
}  # fmt: skip


def _mistaken(u: Any) -> Any:
    names = {"min": "max", "max": "min"}
    return replace(u, op=replace(u.op, name=names.get(u.op.name, u.op.name)))


def find(fault: str, seeds: Sequence[int]) -> Found:
    """The first of `seeds` that shows the fault. Faults of later forms count from where there are such."""
    first = NATURAL_FROM if fault in NATURAL_FAULTS else VARYING_FROM if fault in VARYING_FAULTS else 0
    for tried, seed in enumerate((first + s for s in seeds), 1):
        tree = random_statements(seed)
        with planted(FAULTS[fault]()):
            verdict = examined(tree, seed)
        if not isinstance(verdict, Verdict) or not (verdict.bad or verdict.kind == "undecided"):
            continue
        healthy = examined(tree, seed)
        if isinstance(healthy, Ready) or (healthy.kind == "refused" and verdict.bad):
            return Found(fault, seed, tried, f"{verdict.kind}: {verdict.detail[-90:]}")
    return Found(fault, None, len(seeds))


def faults_on(setting: Sequence[int]) -> Callable[[str], Found]:
    """The task of a process."""
    return lambda fault: find(fault, setting)


def find_all(seeds: Sequence[int], jobs: int, limit: float, names: Sequence[str] = ()) -> list[Found]:
    """Each fault, in the table's order."""
    chosen = [n for n in FAULTS if not names or n in names]
    done = {d.key: d for d in run_tasks(faults_on, seeds, chosen, jobs=jobs, limit=limit)}
    return [d.value or Found(n, None, 0, d.failure[-200:]) for n, d in ((n, done[n]) for n in chosen)]
