"""K130 to K133: dependences keep C's order where it matters.

Reductions may be re-associated and re-ordered, because all operators are associative and commutative. Prefix
sums keep the order of their dimension. With --strict-fp, so do float reductions.
"""

from collections.abc import Iterator
from itertools import pairwise

from mdh.checker.footprint import chain_of, first_of_part
from mdh.checker.loops import code_loops
from mdh.checker.subject import Subject, step_name
from mdh.diagnostics import Diagnostic, Label
from mdh.hardware import BLOCKED, THREADED, Layer, Space
from mdh.ir.layout import Level
from mdh.ir.program import DimKind
from mdh.poly.order import Pair, first_reversal

SCAN_ORDER, SCAN_LAYER, STRICT, ARRIVAL = "K130", "K131", "K132", "K133"
SCAN_LAYERS = (Layer.BLK, None, Layer.THR, None)
"""The layers that may split a ps dimension, from outside in; None is a sequential loop."""


def check_scan_order(subject: Subject) -> Iterator[Diagnostic]:
    """K130. For x < x' of a ps dim: code order reaches x before x'; units count in the order of parts."""
    for d, dim in enumerate(subject.stage.dims):
        if dim.kind is not DimKind.PS:
            continue
        pair = _reversal(subject, (d,))
        if pair is None:
            continue
        (first,), (second,) = pair
        headline = f"prefix sum over `{dim.name}`: iteration {second} comes before {first}"
        labels = _order_labels(subject, d)
        yield Diagnostic(
            SCAN_ORDER,
            headline,
            labels + subject.at_dim(d, "the prefix sum"),
            help="let the labels follow the text for this dimension, and do not deal it out by @cyclic",
            witness=(("dims", (dim.name,)), ("first", (first,)), ("second", (second,))),
        )


def _reversal(subject: Subject, dims: tuple[int, ...]) -> Pair | None:
    """Two iterations of these dimensions that code order exchanges, in C's order; units count in the order of
    their parts."""
    chains = tuple(chain_of(subject.plan, d) for d in dims)
    order = tuple((dims.index(x.dim), x.step) for x in code_loops(subject.plan) if x.dim in dims)
    return first_reversal(chains, order)


def _order_labels(subject: Subject, d: int) -> tuple[Label, ...]:
    """The cyclic entry, or the first loop of the dimension that encloses a loop above it in the text."""
    loops = [x for x in code_loops(subject.plan) if x.dim == d]
    for loop in loops:
        if loop.cyclic:
            return subject.at_core(loop.step, d, "deals iterations out of order")
    for a, b in pairwise(loops):
        if a.step > b.step:
            name = step_name(subject.plan.steps[b.step], subject.plan.steps[b.step].number)
            return subject.at_tile(a.step, d, f"its loop encloses that of {name}")
    return ()


def check_scan_layers(subject: Subject) -> Iterator[Diagnostic]:
    """K131. A ps dimension is split, from outside in, over BLK, loops, THR and loops, and nothing else.

    So every block holds one contiguous part, and threads hold contiguous parts of each loop iteration's
    share.
    """
    for d, dim in enumerate(subject.stage.dims):
        if dim.kind is not DimKind.PS:
            continue
        loops = [x for x in code_loops(subject.plan) if x.dim == d]
        place = 0
        for k, loop in enumerate(loops):
            found = next((p for p in range(place, len(SCAN_LAYERS)) if SCAN_LAYERS[p] == loop.layer), None)
            if found is None:
                yield _misplaced(subject, loop, loops[:k])
                break
            place = found


def _misplaced(subject: Subject, loop: Level, outer: list[Level]) -> Diagnostic:
    name = subject.dim(loop.dim)
    labels = subject.at_core(loop.step, loop.dim)
    if loop.layer in SCAN_LAYERS:
        headline = f"prefix sum over `{name}`: the parts of {loop.layer} are not contiguous"
        labels += subject.at_core(outer[-1].step, loop.dim, f"stands outside of {loop.layer}")
    else:
        headline = f"prefix sum over `{name}` is split over {loop.layer}"
    return Diagnostic(
        SCAN_LAYER,
        headline,
        labels + subject.at_dim(loop.dim, "the prefix sum"),
        help="split it, from outside in, over BLK, sequential loops, THR, sequential loops",
        witness=(("dim", name), ("layer", loop.layer)),
    )


def check_strict_order(subject: Subject) -> Iterator[Diagnostic]:
    """K132. With --strict-fp, the additions, multiplications and comparisons of a float result happen in C's
    order. (fmin, fmax, argmin and argmax give C's result in any order.)

    So no reduced dimension is split over parallel units, and loops keep C's order.
    """
    if not subject.program.strict_fp or not _order_matters(subject):
        return
    if subject.plan.atoms is not None:
        headline = "--strict-fp: tensor cores add in an order of their own"
        labels = subject.at_step(subject.plan.atoms)
        yield Diagnostic(STRICT, headline, labels, help="use THR and a register tile, or drop --strict-fp")
        return
    dims = tuple(d for d, dim in enumerate(subject.stage.dims) if dim.kind is not DimKind.CC)
    side_by_side = [x for x in code_loops(subject.plan) if x.dim in dims and x.layer is not None]
    for loop in side_by_side:
        yield _parallel(subject, loop)
    copies = _in_shared(subject)
    for step, buffer in copies:
        yield _begun_anew(subject, step, buffer)
    if side_by_side or copies or not dims:
        return
    pair = _reversal(subject, dims)
    if pair is not None:
        yield _exchanged(subject, dims, pair)


def _order_matters(subject: Subject) -> bool:
    return any(
        r.op is not None and (r.op.ordered or (r.op.name in ("+", "*") and any(t.is_float for t in r.types)))
        for r in subject.stage.results
    )


def _in_shared(subject: Subject) -> list[tuple[int, str]]:
    """(step, output) of results that are summed up in SM from the identity, and added at the end."""
    if any(dim.kind is DimKind.PS for dim in subject.stage.dims):
        return []
    sums = {o.buffer for r in subject.stage.results if r.op is not None and r.op.ordered for o in r.outputs}
    return [
        (s, h.buffer)
        for s, step in enumerate(subject.plan.steps)
        for h in step.holdings
        if h.region == Space.SM and h.buffer in sums
    ]


def _begun_anew(subject: Subject, step: int, buffer: str) -> Diagnostic:
    return Diagnostic(
        STRICT,
        f"--strict-fp: the partial results of `{buffer}` in SM join it afterwards",
        subject.at_entry(step, buffer, "begins at nothing, not at what the C begins at"),
        help="hold them in RM, or drop --strict-fp",
        witness=(("buffer", buffer), ("step", step)),
    )


def _parallel(subject: Subject, loop: Level) -> Diagnostic:
    name = subject.dim(loop.dim)
    headline = f"--strict-fp: the float reduction over `{name}` is split over {loop.layer}"
    second = first_of_part(subject.plan, loop, 1)
    return Diagnostic(
        STRICT,
        headline,
        subject.at_core(loop.step, loop.dim, f"{loop.parts} partial results")
        + subject.at_dim(loop.dim, "the reduction"),
        notes=(f"iterations {name} = 0 and {name} = {second} are combined by different units",),
        help="keep reduced dimensions sequential, or drop --strict-fp",
        witness=(("dims", (name,)), ("first", (0,)), ("second", (second,)), ("layer", loop.layer)),
    )


def _exchanged(subject: Subject, dims: tuple[int, ...], pair: Pair) -> Diagnostic:
    names = tuple(subject.dim(d) for d in dims)
    first, second = (", ".join(f"{n} = {v}" for n, v in zip(names, point, strict=True)) for point in pair)
    headline = f"--strict-fp: iteration ({second}) comes before ({first})"
    return Diagnostic(
        STRICT,
        headline,
        _exchanging(subject, dims),
        help=f"keep the loops over {', '.join(names)} in C's order, or drop --strict-fp",
        witness=(("dims", names), ("first", pair[0]), ("second", pair[1])),
    )


def _exchanging(subject: Subject, dims: tuple[int, ...]) -> tuple[Label, ...]:
    """The first written step whose loops are not in C's order."""
    loops = [x for x in code_loops(subject.plan) if x.dim in dims]
    in_order = sorted(loops, key=lambda x: (x.dim, x.step))
    for loop, wanted in zip(loops, in_order, strict=True):
        if loop != wanted and subject.written(loop.step) is not None:
            return subject.at_tile(
                loop.step, loop.dim, f"its loop over `{subject.dim(loop.dim)}` comes too early"
            )
    return ()


def check_arrival_order(subject: Subject) -> Iterator[Diagnostic]:
    """K133. With --deterministic, parallel units do not update one float histogram.

    Their atomic additions round in the order in which they arrive.
    """
    floats = any(t.is_float for r in subject.stage.results for t in r.types)
    if not (subject.draft.deterministic and subject.stage.scattered and floats):
        return
    private = any(h.region == Space.SM for step in subject.plan.steps for h in step.holdings)
    layers = THREADED if private else (*THREADED, *BLOCKED)
    for loop in code_loops(subject.plan):
        if loop.layer in layers and subject.stage.dims[loop.dim].kind is not DimKind.CC:
            headline = (
                f"--deterministic: float additions of {loop.parts} units of {loop.layer} meet in one element"
            )
            output = subject.draft.outputs[0]
            yield Diagnostic(
                ARRIVAL,
                headline,
                subject.at_core(loop.step, loop.dim),
                help=f"split over BLK alone and hold `{output}` in SM, or count in integers",
                witness=(("dim", subject.dim(loop.dim)), ("layer", loop.layer), ("parts", loop.parts)),
            )
