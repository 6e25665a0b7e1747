"""Reductions in one pass: a sum reads results of other reductions over the same dimension (`online`).

`u = sum of exp(s_j - t)` reads `t = max of s_j`, which is known at the end alone. For part after part of j
the pass brings t up to date, multiplies what it has of u by exp(old t - new t), and adds the terms of the
part with the new t. What it multiplies by must be the same for all j: then it is one number for a whole
partial sum. So the terms must be products in which t stands as `exp(s_j - t)`, or u as a factor or divisor,
which is left out of the terms and joins the finished sum.

Of `exp(s_j - t)` no value is above 1 while t is the largest s_j so far: it cannot overflow. While no s_j is
above -infinity, terms are taken at t = 0: they are zero, or NaN where s_j is NaN, as they are for any later
t. If t stays -infinity, the C computes exp(-infinity + infinity), and the finished sum is NaN.

A sum of squares `(x_j - m) * (x_j - m)`, where m is the mean of x_j, takes the distances from the first x_j.
That is at most as far from m as all x_j together, so that what is lost when it is corrected in the end is
within the bounds of sums in another order.

Sources: Milakov and Gimelshein, "Online normalizer calculation for softmax", arXiv 1805.02867, 2018; Dao, Fu,
Ermon, Rudra and Re, "FlashAttention", NeurIPS 2022.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mdh.ir.expr import Expr, Var, loads
from mdh.ir.names import fresh
from mdh.ir.online_terms import OnlineError, read_term
from mdh.ir.online_writing import PassWriting, index_in_host, rewritten, scale_of
from mdh.ir.program import DimKind, Program, Stage


@dataclass(frozen=True, slots=True)
class Joined:
    """program: with reductions in one pass. stored: by the array of a companion, the array in which other
    kernels find its finished results."""

    program: Program
    stored: Mapping[str, str]


def online(program: Program, host: str, names: Sequence[str], inside: Sequence[str]) -> Joined:
    """The program whose stages `host` and `names` are reduced in one pass, if `host` computes all of `inside`
    part by part. Only within that program do its stages have the values that it gives them. Raises
    OnlineError."""
    stages = {s.name: s for s in program.stages}
    companions = {_array_of(program, stages[n]): stages[n] for n in names}
    o = PassWriting(
        program, stages[host], companions, [stages[n] for n in inside], {}, set(), set(),
        {*program.buffer_of, *program.params}, {}, {}, {},
    )  # fmt: skip
    _read_terms(o)
    return Joined(rewritten(o), o.stored)


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


def _read_terms(o: PassWriting) -> None:
    kept = [d for d in o.host.dims if d.kind is DimKind.PW]
    for stage in o.companions.values():
        own = [d for d in stage.dims if d.kind is DimKind.PW]
        if [d.extent for d in own] != [d.extent for d in kept] or not own:
            raise OnlineError(f"it is not reduced along the dimensions of `{o.host.name}`", stage)
    if any(r.op is None or len(r.values) > 1 for r in o.host.results):
        raise OnlineError("it is no reduction of numbers", o.host)
    for stage in (*o.companions.values(), o.host):
        for n, r in enumerate(stage.results):
            o.terms[stage.name, n] = term = read_term(o.program, stage, r, o.companions, _maps(o))
            for e in term.exponents:
                o.extrema.add(e.of)
                scale = scale_of(e)
                if scale not in o.scales:
                    o.scales[scale] = fresh(f"{e.of}_scale", o.names)
            o.factors |= {name for name, _, _ in term.factors}
            if stage is not o.host and (term.factors or term.square):
                name = term.factors[0][0] if term.factors else min(x.of for x in [term.square] if x)
                raise OnlineError(f"its terms need `{name}` as it is in the end", stage)
            if term.square is not None and term.square.of not in o.means:
                of = term.square.of
                o.means[of] = fresh(f"{of}_first", o.names)
    both = (o.extrema & o.factors) | (o.means.keys() & (o.extrema | o.factors))
    if both:
        raise OnlineError(f"`{min(both)}` stands in terms in two ways", o.host)
    _read_outside(o)
    for stage in o.inside:
        if stage.name in {s.name for s in o.companions.values()}:
            continue
        if any(r.op is not None for r in stage.results) and _depends(o, stage):
            raise OnlineError(f"stage `{stage.name}` reduces what `{o.host.name}` carries", stage)


def _read_outside(o: PassWriting) -> None:
    """Gives names to arrays with finished results that other kernels read."""
    mine = {o.host.name, *(s.name for s in o.companions.values()), *(s.name for s in o.inside)}
    others = [s for s in o.program.stages if s.name not in mine]
    for name, stage in o.companions.items():
        readers = [s.name for s in others if name in s.read]
        if not readers:
            continue
        at, out = index_in_host(o, name), o.host.results[0].outputs[0]
        kept = {d.name for d in o.host.dims if d.kind is DimKind.CC and d.extent > 1}
        if at is None or {*_names(at)} & kept != kept or not {*_names(at)} <= {*_names(out.index)}:
            what = f"stage `{readers[0]}` reads `{name}`, which belongs to several results of `{o.host.name}`"
            raise OnlineError(what, stage)
        o.stored[name] = fresh(f"{name}_all", o.names)


def _names(index: tuple[Expr, ...]) -> list[str]:
    return [i.name for i in index if isinstance(i, Var)]


def _maps(o: PassWriting) -> dict[str, Stage]:
    """Maps that the host computes, which read what is carried, by their arrays."""
    out: dict[str, Stage] = {}
    for stage in o.inside:
        if all(r.op is None for r in stage.results) and any(
            b in o.companions or b in out for b in stage.read
        ):
            out.update((b, stage) for b in stage.written)
    return out


def _depends(o: PassWriting, stage: Stage) -> bool:
    maps = _maps(o)
    return any(b in o.companions or b in maps for b in stage.read)
