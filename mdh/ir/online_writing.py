"""The stages of a pass as they are computed part by part (`ir/online.py`)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mdh.ir.carried import Carried, OnePass
from mdh.ir.dtype import I32, DType
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Select, Var, loads, map_children, substitute
from mdh.ir.online_terms import Exponent, OnlineError, OnlineTerm, Square, cast
from mdh.ir.online_witness import normal
from mdh.ir.program import Buffer, DimKind, Output, Program, Result, Stage, component


@dataclass(frozen=True)
class ExponentScale:
    """What partial sums of exp(sign * weight * s_j - …) are multiplied by: an array beside the extremum's."""

    of: str
    fn: str
    weight: float
    dtype: DType


@dataclass
class PassWriting:
    """The rewriting of one pass. inside: the stages that the host's kernel computes. scales: the array of
    each factor. divisors, extrema: the arrays that stand in terms as such."""

    program: Program
    host: Stage
    companions: Mapping[str, Stage]
    inside: Sequence[Stage]
    scales: dict[ExponentScale, str]
    extrema: set[str]
    factors: set[str]
    names: set[str]
    terms: dict[tuple[str, int], OnlineTerm]
    stored: dict[str, str]
    means: dict[str, str]


def index_in_host(o: PassWriting, name: str) -> tuple[Expr, ...] | None:
    """The element of a companion that belongs to a result of the host; None if the host reads none."""
    for n, _ in enumerate(o.host.results):
        term = o.terms[o.host.name, n]
        found = [*((e.of, e.index) for e in term.exponents), *((a, i) for a, i, _ in term.factors)]
        found += [(term.square.of, term.square.index)] if term.square else []
        found += [(x.buffer, x.index) for e in o.host.expressions() for x in loads(e)]
        for of, index in found:
            if of == name:
                return index
    return None


def scale_of(e: Exponent) -> ExponentScale:
    return ExponentScale(e.of, e.fn, e.weight, e.dtype)


def rewritten(o: PassWriting) -> Program:
    mine = {s.name for s in o.companions.values()}
    inside = {s.name for s in o.inside}
    stages = []
    for stage in o.program.stages:
        if stage.name in mine:
            stages.append(_companion(o, stage))
        elif stage.name == o.host.name:
            stages.append(_host(o, stage))
        elif stage.name in inside and stage.read & o.companions.keys():
            stages.append(_map(o, stage))
        else:
            stages.append(stage)
    shapes = {b: o.program.buffer_of[b] for b in o.companions}
    arrays = [(name, s.of, s.dtype) for s, name in o.scales.items()]
    arrays += [(new, old, shapes[old].dtype) for old, new in o.stored.items()]
    arrays += [(new, old, shapes[old].dtype) for old, new in o.means.items()]
    more = tuple(Buffer(name, t, shapes[of].shape, temp=True) for name, of, t in arrays)
    stages = [_reading_stored(o, s) if s.name not in mine | inside | {o.host.name} else s for s in stages]
    return replace(o.program, stages=tuple(stages), buffers=(*o.program.buffers, *more), statements=())


def _reading_stored(o: PassWriting, stage: Stage) -> Stage:
    """A stage that has a separate kernel. It reads finished results from the arrays in which the kernel of
    the host stores them."""

    def swap(e: Expr) -> Expr:
        e = map_children(e, swap)
        return replace(e, buffer=o.stored[e.buffer]) if isinstance(e, Load) and e.buffer in o.stored else e

    if not stage.read & o.stored.keys():
        return stage
    results = tuple(
        replace(
            r,
            values=tuple(map(swap, r.values)),
            starts=tuple(None if s is None else swap(s) for s in r.starts),
            outputs=tuple(replace(x, value=swap(x.value)) for x in r.outputs),
        )
        for r in stage.results
    )
    lets = tuple(replace(x, value=swap(x.value)) for x in stage.lets)
    return replace(stage, lets=lets, results=results)


def _in_terms(o: PassWriting, e: Expr) -> Expr:
    """A term at the state of the pass: extrema that are still infinite count as zero, and factors as one."""
    e = map_children(e, lambda c: _in_terms(o, c))
    if not isinstance(e, Load) or e.buffer not in o.companions:
        return e
    if e.buffer in o.factors:
        return Const(1.0, e.dtype)
    if e.buffer in o.means:
        return replace(e, buffer=o.means[e.buffer])
    return Select(_begun(o, e), e, Const(0.0, e.dtype), e.dtype) if e.buffer in o.extrema else e


def _begun(o: PassWriting, e: Load) -> Expr:
    """Whether an extremum is of more than infinities and NaN."""
    op = o.companions[e.buffer].results[0].op
    assert op is not None
    unit = op.identity(e.dtype)
    return Binary(">" if op.name == "max" else "<", e, unit, I32)


def _map(o: PassWriting, stage: Stage) -> Stage:
    lets = tuple(replace(x, value=_in_terms(o, x.value)) for x in stage.lets)
    results = tuple(
        replace(
            r,
            values=tuple(_in_terms(o, v) for v in r.values),
            outputs=tuple(replace(x, value=_in_terms(o, x.value)) for x in r.outputs),
        )
        for r in stage.results
    )
    return _spared(stage, replace(stage, lets=lets, results=results))


def _spared(before: Stage, after: Stage) -> Stage:
    """The stage with the entries that it had before."""
    gone = before.read - after.read - after.written
    idle = {x.buffer: x for e in before.expressions() for x in loads(e) if x.buffer in gone}
    aside = (after.read | after.written) - before.read - before.written
    return replace(after, idle=(*after.idle, *idle.values()), aside=after.aside | aside)


def _companion(o: PassWriting, stage: Stage) -> Stage:
    r = stage.results[0]
    assert r.op is not None
    out, t = r.outputs[0], r.types[0]
    held = Load(out.buffer, out.index, t)
    mine = {s: name for s, name in o.scales.items() if s.of == out.buffer}
    start, state = _start(stage, r), Var(component(0), t)
    values = tuple(_in_terms(o, v) for v in r.values)
    beside = tuple(Output(name, out.index, _scale(o, s, held, state)) for s, name in mine.items())
    if beside and not isinstance(out.value, Var):
        raise OnlineError("it changes the finished result, and terms read it before", stage)
    begun: list[tuple[str, Const | None]] = [(name, None) for name in mine.values()]
    if out.buffer in o.means:
        name = o.means[out.buffer]
        beside, begun = (Output(name, out.index, cast(_first_term(o, stage), t)),), [(name, None)]
    scale = _factor(o, o.terms[stage.name, 0])
    resumed = held if scale is None else Binary("*", held, scale, t)
    result = replace(
        r, values=values, starts=(resumed,), outputs=(*beside, Output(out.buffer, out.index, state, out.span))
    )
    own, others = ([d.name for d in s.dims if d.kind is DimKind.PW] for s in (stage, o.host))
    along = tuple(zip(own, others, strict=True))
    carried = Carried(o.host.name, out.buffer, start, tuple(begun), along)
    return _spared(stage, replace(stage, results=(result,), carried=carried))


def _scale(o: PassWriting, s: ExponentScale, old: Load, new: Expr) -> Expr:
    """What partial sums are multiplied by when the extremum `old` has become `new`: 1 as long as it stays,
    and as long as there is none, when they are zero or NaN."""
    op = o.companions[s.of].results[0].op
    assert op is not None
    grows = Binary(">" if op.name == "max" else "<", new, old, I32)
    change = Binary("-", old, new, old.dtype)
    scaled: Expr = Binary("*", change, Const(s.weight, old.dtype), old.dtype) if s.weight != 1 else change
    factor = Call(s.fn, (cast(scaled, s.dtype),), s.dtype)
    return Select(Binary("&&", _begun(o, old), grows, I32), factor, Const(1.0, s.dtype), s.dtype)


def _first_term(o: PassWriting, stage: Stage) -> Expr:
    """The first term of a sum, from which distances are taken instead of from the mean: it is known from the
    start, and no farther from the mean than all terms together are."""
    first: dict[str, Expr] = {d.name: Const(0, I32) for d in stage.dims if d.kind is DimKind.PW}
    value = substitute(stage.results[0].values[0], first)
    if any(x.buffer in s.written for x in loads(value) for s in o.inside):
        raise OnlineError("its terms are computed in the same kernel, which keeps no first one", stage)
    return value


def _start(stage: Stage, r: Result) -> Const:
    """What the partial results begin at. The start of a sum joins it in the end."""
    op, start, t = r.op, r.starts[0], r.types[0]
    assert op is not None
    if op.name == "+":
        if start is not None and not isinstance(start, Const):
            raise OnlineError("it begins at a value that is no constant", stage)
        return op.identity(t)
    if start is None:
        return op.identity(t)
    if isinstance(start, Const):
        return start
    first = {d.name: Const(0, I32) for d in stage.dims if d.kind is DimKind.PW}
    if normal(start) != normal(substitute(r.values[0], dict(first))):
        raise OnlineError("it begins at a value that is neither a constant nor its first term", stage)
    return Const(math.nan, t) if op.nan else op.identity(t)


def _factor(o: PassWriting, term: OnlineTerm) -> Expr | None:
    """What partial sums of such terms are multiplied by when the extrema have changed."""
    out: Expr | None = None
    for e in term.exponents:
        one: Expr = cast(Load(o.scales[scale_of(e)], e.index, e.dtype), term.dtype)
        out = one if out is None else Binary("*", out, one, term.dtype)
    return out


def _host(o: PassWriting, stage: Stage) -> Stage:
    lets = tuple(replace(x, value=_in_terms(o, x.value)) for x in stage.lets)
    results, scales, finishing = [], [], []
    for n, r in enumerate(stage.results):
        term = o.terms[stage.name, n]
        values = tuple(_in_terms(o, v) for v in r.values)
        starts = tuple(None if s is None else _finished(o, s) for s in r.starts)
        outputs = [replace(x, value=_finished(o, x.value)) for x in r.outputs]
        for old, new in o.stored.items() if n == 0 else ():
            index = index_in_host(o, old)
            assert index is not None
            outputs.append(Output(new, index, _value(o, old, index)))
        results.append(replace(r, values=values, starts=starts, outputs=tuple(outputs)))
        scales.append(_factor(o, term))
        finishing.append(_finishing(o, term))
    carried = []
    for b, c in o.companions.items():
        one = _companion(o, c).carried
        assert one is not None and one.buffer == b
        carried.append((c.name, one))
    host = OnePass(tuple(carried), tuple(scales), tuple(finishing))
    return _spared(stage, replace(stage, lets=lets, results=tuple(results), host=host))


def _finishing(o: PassWriting, term: OnlineTerm) -> Expr | None:
    """The sum of the terms as the C means them, from component 0."""
    if term.square is not None:
        return _about_mean(o, term, term.square)
    if not term.exponents and not term.factors:
        return None
    state = _ended(o, term, Var(component(0), term.dtype), {})
    for name, index, power in term.factors:
        value = cast(_value(o, name, index), term.dtype)
        state = Binary("*" if power > 0 else "/", state, value, term.dtype)
    return state


def _about_mean(o: PassWriting, term: OnlineTerm, square: Square) -> Expr:
    """The sum of squared distances from what the C calls the mean, from those from the first term."""
    t = o.program.buffer_of[square.of].dtype
    first, total = (Load(n, square.index, t) for n in (o.means[square.of], square.of))
    count = Const(float(math.prod(d.extent for d in o.host.dims if d.kind is DimKind.PW)), t)
    far = Binary("-", first, _value(o, square.of, square.index), t)
    moved = Binary("-", total, Binary("*", count, first, t), t)
    twice = Binary("+", Binary("+", moved, moved, t), Binary("*", count, far, t), t)
    more = Binary("*", Binary("*", far, twice, t), Const(square.weight, t), t)
    out = Binary("+", Var(component(0), term.dtype), cast(more, term.dtype), term.dtype)
    zero = Const(0.0, term.dtype)
    wrong = Binary("<" if square.weight > 0 else ">", out, zero, I32)
    return Select(wrong, zero, out, term.dtype)


def _ended(o: PassWriting, term: OnlineTerm, state: Expr, at: Mapping[str, Expr]) -> Expr:
    """Sums of terms `exp(s_j - t)` are NaN if t is infinite in the end. at: the dimensions of the stage."""
    for e in term.exponents:
        index = tuple(substitute(i, dict(at)) for i in e.index)
        begun = _begun(o, Load(e.of, index, o.program.buffer_of[e.of].dtype))
        state = Select(begun, state, Const(math.nan, term.dtype), term.dtype)
    return state


def _finished(o: PassWriting, e: Expr) -> Expr:
    """An expression that is computed behind the pass: results of companions are finished there."""
    e = map_children(e, lambda c: _finished(o, c))
    return _value(o, e.buffer, e.index) if isinstance(e, Load) and e.buffer in o.companions else e


def _value(o: PassWriting, name: str, index: tuple[Expr, ...]) -> Expr:
    """The finished result of a companion, from its partial results."""
    stage = o.companions[name]
    r = stage.results[0]
    at = {i.name: e for i, e in zip(r.outputs[0].index, index, strict=True) if isinstance(i, Var)}
    t = r.types[0]
    state: Expr = _ended(o, o.terms[stage.name, 0], Load(name, index, t), at)
    start = r.starts[0]
    if r.op is not None and r.op.name == "+" and isinstance(start, Const) and start.value != 0:
        state = Binary("+", start, state, t)
    value = substitute(r.outputs[0].value, {**at, component(0): state})
    return cast(value, o.program.buffer_of[name].dtype)
