"""Reductions in one pass: a sum reads results of other reductions over the same dimension (`online`).

`u = sum of exp(s_j - t)` reads `t = max of s_j`, which is known at the end alone. For part after part of j
the pass brings t up to date, multiplies what it has of u by exp(old t - new t), and adds the terms of the
part with the new t. What it multiplies by must be the same for all j: then it is one number for a whole
partial sum. So the terms must be products in which t stands as `exp(s_j - t)`, or u as a factor or divisor, which is
left out of the terms and joins the finished sum.

Of `exp(s_j - t)` no value is above 1 while t is the largest s_j so far: it cannot overflow. While no s_j is
above -infinity, terms are taken at t = 0: they are zero, or NaN where s_j is NaN, as they are for any later
t. If t stays -infinity, the C computes exp(-infinity + infinity), and the finished sum is NaN.

Sources: Milakov and Gimelshein, "Online normalizer calculation for softmax", arXiv 1805.02867, 2018; Dao, Fu,
Ermon, Rudra and Re, "FlashAttention", NeurIPS 2022.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mdh.ir.carried import Carried, Pass
from mdh.ir.dtype import I32, DType
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Select, Var, loads, map_children, substitute
from mdh.ir.names import fresh
from mdh.ir.online_terms import Exponent, OnlineError, Term, cast, normal, read_term
from mdh.ir.program import Buffer, DimKind, Output, Program, Result, Stage, component


@dataclass(frozen=True)
class _Scale:
    """What partial sums of exp(sign * weight * s_j - …) are multiplied by: an array beside the extremum's."""

    of: str
    fn: str
    weight: float
    dtype: DType


@dataclass
class _Online:
    """The rewriting of one pass. inside: the stages that the host's kernel computes. scales: the array of
    each factor. divisors, extrema: the arrays that stand in terms as such."""

    program: Program
    host: Stage
    companions: Mapping[str, Stage]
    inside: Sequence[Stage]
    scales: dict[_Scale, str]
    extrema: set[str]
    factors: set[str]
    names: set[str]
    terms: dict[tuple[str, int], Term]


def online(program: Program, host: str, names: Sequence[str], inside: Sequence[str]) -> Program:
    """The program whose stages `host` and `names` are reduced in one pass, if `host` computes all of `inside`
    part by part. Its stages mean what they say there alone. Raises OnlineError."""
    stages = {s.name: s for s in program.stages}
    companions = {_array_of(program, stages[n]): stages[n] for n in names}
    o = _Online(
        program, stages[host], companions, [stages[n] for n in inside], {}, set(), set(),
        {*program.buffer_of, *program.params}, {},
    )  # fmt: skip
    _read_terms(o)
    return _rewritten(o)


def _array_of(program: Program, stage: Stage) -> str:
    """The array of a companion, which has one result, at an element for each kept point."""
    r = stage.results[0]
    if len(stage.results) > 1 or len(r.outputs) > 1 or len(r.values) > 1:
        raise OnlineError("it has more than one result", stage)
    if r.op is None or r.op.name not in ("+", "max", "min"):
        raise OnlineError("it is no sum, maximum or minimum", stage)
    o = r.outputs[0]
    kept = [d.name for d in stage.dims if d.kind is DimKind.CC and d.extent > 1]
    index = [i.name for i in o.index if isinstance(i, Var)]
    scan = any(d.kind is DimKind.PS for d in stage.dims)
    if scan or len(set(index)) < len(o.index) or set(kept) - {*index}:
        raise OnlineError("its elements are not numbered by its dimensions alone", stage)
    buffer = program.buffer_of[o.buffer]
    if r.op.rounded is not None or buffer.dtype != r.types[0] or not buffer.dtype.is_float:
        raise OnlineError("its array does not hold floats as they are summed", stage)
    if any(loads(o.value)) or stage.lets:
        raise OnlineError("what it does with the finished result reads arrays", stage)
    return o.buffer


# -- reading -----------------------------------------------------------------------------------


def _read_terms(o: _Online) -> None:
    kept = [d for d in o.host.dims if d.kind is DimKind.PW]
    for stage in o.companions.values():
        own = [d for d in stage.dims if d.kind is DimKind.PW]
        if [d.extent for d in own] != [d.extent for d in kept] or not own:
            raise OnlineError(f"it is not reduced along the dimensions of `{o.host.name}`", stage)
    for stage in (*o.companions.values(), o.host):
        for n, r in enumerate(stage.results):
            o.terms[stage.name, n] = term = read_term(o.program, stage, r, o.companions, _maps(o))
            for e in term.exponents:
                o.extrema.add(e.of)
                scale = _scale_of(e)
                if scale not in o.scales:
                    o.scales[scale] = fresh(f"{e.of}_scale", o.names)
            o.factors |= {name for name, _, _ in term.factors}
            if term.factors and stage is not o.host:
                (name, _, _) = term.factors[0]
                raise OnlineError(f"its terms have the factor `{name}`, which is not finished", stage)
    both = o.extrema & o.factors
    if both:
        raise OnlineError(f"`{min(both)}` stands in terms both in `exp` and as a factor", o.host)
    for stage in o.inside:
        if stage.name in {s.name for s in o.companions.values()}:
            continue
        if any(r.op is not None for r in stage.results) and _depends(o, stage):
            raise OnlineError(f"stage `{stage.name}` reduces what `{o.host.name}` carries", stage)


def _scale_of(e: Exponent) -> _Scale:
    return _Scale(e.of, e.fn, e.weight, e.dtype)


def _maps(o: _Online) -> dict[str, Stage]:
    """Maps that the host computes, which read what is carried, by their arrays."""
    out: dict[str, Stage] = {}
    for stage in o.inside:
        if all(r.op is None for r in stage.results) and any(
            b in o.companions or b in out for b in stage.read
        ):
            out.update((b, stage) for b in stage.written)
    return out


def _depends(o: _Online, stage: Stage) -> bool:
    maps = _maps(o)
    return any(b in o.companions or b in maps for b in stage.read)


# -- writing -----------------------------------------------------------------------------------


def _rewritten(o: _Online) -> Program:
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
    more = tuple(Buffer(name, s.dtype, shapes[s.of].shape, temp=True) for s, name in o.scales.items())
    return replace(o.program, stages=tuple(stages), buffers=(*o.program.buffers, *more), statements=())


def _in_terms(o: _Online, e: Expr) -> Expr:
    """A term at the state of the pass: extrema that are still infinite count as zero, and factors as one."""
    e = map_children(e, lambda c: _in_terms(o, c))
    if not isinstance(e, Load) or e.buffer not in o.companions:
        return e
    if e.buffer in o.factors:
        return Const(1.0, e.dtype)
    return Select(_begun(o, e), e, Const(0.0, e.dtype), e.dtype) if e.buffer in o.extrema else e


def _begun(o: _Online, e: Load) -> Expr:
    """Whether an extremum is of more than infinities and NaN."""
    op = o.companions[e.buffer].results[0].op
    assert op is not None
    unit = op.identity(e.dtype)
    return Binary(">" if op.name == "max" else "<", e, unit, I32)


def _map(o: _Online, stage: Stage) -> Stage:
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


def _companion(o: _Online, stage: Stage) -> Stage:
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
    scale = _factor(o, o.terms[stage.name, 0])
    resumed = held if scale is None else Binary("*", held, scale, t)
    result = replace(
        r, values=values, starts=(resumed,), outputs=(*beside, Output(out.buffer, out.index, state, out.span))
    )
    own, others = ([d.name for d in s.dims if d.kind is DimKind.PW] for s in (stage, o.host))
    along = tuple(zip(own, others, strict=True))
    carried = Carried(o.host.name, out.buffer, start, tuple(mine.values()), along)
    return _spared(stage, replace(stage, results=(result,), carried=carried))


def _scale(o: _Online, s: _Scale, old: Load, new: Expr) -> Expr:
    """What partial sums are multiplied by when the extremum `old` has become `new`: 1 as long as it stays,
    and as long as there is none, when they are zero or NaN."""
    op = o.companions[s.of].results[0].op
    assert op is not None
    grows = Binary(">" if op.name == "max" else "<", new, old, I32)
    change = Binary("-", old, new, old.dtype)
    scaled: Expr = Binary("*", change, Const(s.weight, old.dtype), old.dtype) if s.weight != 1 else change
    factor = Call(s.fn, (cast(scaled, s.dtype),), s.dtype)
    return Select(Binary("&&", _begun(o, old), grows, I32), factor, Const(1.0, s.dtype), s.dtype)


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


def _factor(o: _Online, term: Term) -> Expr | None:
    """What partial sums of such terms are multiplied by when the extrema have changed."""
    out: Expr | None = None
    for e in term.exponents:
        one: Expr = cast(Load(o.scales[_scale_of(e)], e.index, e.dtype), term.dtype)
        out = one if out is None else Binary("*", out, one, term.dtype)
    return out


def _host(o: _Online, stage: Stage) -> Stage:
    lets = tuple(replace(x, value=_in_terms(o, x.value)) for x in stage.lets)
    results, scales, finishing = [], [], []
    for n, r in enumerate(stage.results):
        term = o.terms[stage.name, n]
        values = tuple(_in_terms(o, v) for v in r.values)
        starts = tuple(None if s is None else _finished(o, s) for s in r.starts)
        outputs = tuple(replace(x, value=_finished(o, x.value)) for x in r.outputs)
        results.append(replace(r, values=values, starts=starts, outputs=outputs))
        scales.append(_factor(o, term))
        finishing.append(_finishing(o, term))
    carried = []
    for b, c in o.companions.items():
        one = _companion(o, c).carried
        assert one is not None and one.buffer == b
        carried.append((c.name, one))
    host = Pass(tuple(carried), tuple(scales), tuple(finishing))
    return _spared(stage, replace(stage, lets=lets, results=tuple(results), host=host))


def _finishing(o: _Online, term: Term) -> Expr | None:
    """The sum of the terms as the C means them, from component 0."""
    if not term.exponents and not term.factors:
        return None
    state = _ended(o, term, Var(component(0), term.dtype), {})
    for name, index, power in term.factors:
        value = cast(_value(o, name, index), term.dtype)
        state = Binary("*" if power > 0 else "/", state, value, term.dtype)
    return state


def _ended(o: _Online, term: Term, state: Expr, at: Mapping[str, Expr]) -> Expr:
    """Sums of terms `exp(s_j - t)` are NaN if t is infinite in the end. at: the dimensions of the stage."""
    for e in term.exponents:
        index = tuple(substitute(i, dict(at)) for i in e.index)
        begun = _begun(o, Load(e.of, index, o.program.buffer_of[e.of].dtype))
        state = Select(begun, state, Const(math.nan, term.dtype), term.dtype)
    return state


def _finished(o: _Online, e: Expr) -> Expr:
    """An expression that is computed behind the pass: results of companions are finished there."""
    e = map_children(e, lambda c: _finished(o, c))
    return _value(o, e.buffer, e.index) if isinstance(e, Load) and e.buffer in o.companions else e


def _value(o: _Online, name: str, index: tuple[Expr, ...]) -> Expr:
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
