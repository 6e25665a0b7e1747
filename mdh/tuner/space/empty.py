"""Explains why no choice of values is legal: S160, S161."""

from collections.abc import Iterator, Sequence

from mdh.diagnostics import Diagnostic, Label
from mdh.ir.program import Stage
from mdh.tuner.space.exact import Joint
from mdh.tuner.space.places import VariablePlace
from mdh.tuner.space.signature import NEUTRAL
from mdh.tuner.space.tally import Tally

NO_VALUE, NO_COMBINATION = "S160", "S161"


def explain_empty(
    joint: Joint, names: Sequence[str], openings: Sequence[VariablePlace], stages: Sequence[Stage]
) -> Iterator[Diagnostic]:
    """The holes that no value fits. If each has values, the dimensions that do not fit together.

    `joint` is the space without the rule that layers nest. If it has points, all of them break that rule.
    """
    if joint.count:
        yield _not_nested(openings)
        return
    if joint.conditions and Joint(joint.chains, joint.groups, None).count:
        yield _not_met(joint)
        return
    found = False
    for group in joint.groups:
        if not group.count:
            found = True
            yield _no_value([names[v] for v in group.variables], openings)
    for d, tally in ((d, tally) for (strand,) in joint.strands for d, tally in enumerate(strand)):
        if not tally.paths.table:
            found = True
            yield _stuck(tally, d, names, openings, stages)
    if not found:
        yield _no_combination(joint, openings, stages)


def _no_value(names: Sequence[str], openings: Sequence[VariablePlace]) -> Diagnostic:
    places = [o for o in openings if o.variable in names]
    shown = ", ".join(f"`?{o}`" for o in dict.fromkeys(o.variable for o in places))
    headline = f"the space is empty: no value fits {shown}"
    said = "a layout is a permutation; a name that stands in several places takes what all of them take"
    return Diagnostic(NO_VALUE, headline, _labels(places), help=said)


def _stuck(
    tally: Tally,
    number: int,
    names: Sequence[str],
    openings: Sequence[VariablePlace],
    stages: Sequence[Stage],
) -> Diagnostic:
    """The first step of a dimension after which nothing is possible. number: its index in its stage."""
    chain, layers = tally.chain, tally.paths.layers
    stage = stages[chain.stage]
    dim = stage.dims[number]
    for n, (entry, layer) in enumerate(zip(chain.entries, layers[1:], strict=True)):
        if not layer:
            mine = [names[v] for v in (entry.tile, entry.core) if v is not None]
            places = [o for o in openings if o.variable in mine and o.step == n and o.stage == stage.name]
            above = sorted({s.tile for s in layers[n]})
            sizes = f"{above[0]} to {above[-1]}" if len(above) > 1 else str(above[0])
            where = f"step {n + 1} of `{dim.name}`"
            headline = f"the space is empty: no value fits {where}, which splits {sizes}"
            said = (
                "a tile fits the one above, THR and WRP parts fit the block, VEC has lanes that the target "
                "has, an axis is used once"
            )
            return Diagnostic(NO_VALUE, headline, _labels(places or list(openings)), help=said)
    return Diagnostic(NO_VALUE, "the space is empty", _labels(list(openings)))


def _no_combination(joint: Joint, openings: Sequence[VariablePlace], stages: Sequence[Stage]) -> Diagnostic:
    """Each dimension has choices of its own, but no combination fits."""
    stage = stages[_blocked(joint)]
    threads = joint.chains[0].bounds.threads
    headline = f"the space is empty: no choice of values for stage `{stage.name}` fits all dimensions"
    limit = "" if threads is None else f", at most {threads} threads in a block"
    said = (
        f"under WRP the THR parts multiply to exactly 32{limit}; each axis is used once; a name has one value"
    )
    places = [o for o in openings if o.stage == stage.name and o.what in ("tile", "core")]
    return Diagnostic(NO_COMBINATION, headline, _labels(places), help=said)


def _not_nested(openings: Sequence[VariablePlace]) -> Diagnostic:
    headline = "the space is empty: in every choice of values a core layer lies inside one that it contains"
    said = "layers nest outer to inner in code order: CLU and BLK, then WRP and THR, then VEC"
    places = [o for o in openings if o.what in ("tile", "core")]
    return Diagnostic(NO_COMBINATION, headline, _labels(places), help=said)


def _not_met(joint: Joint) -> Diagnostic:
    headline = "the space is empty: no choice of values meets the conditions"
    spans = [c.where.span for c in joint.conditions if c.where.span is not None]
    labels = tuple(Label(span, "condition") for span in spans[:4])
    return Diagnostic(NO_COMBINATION, headline, labels, help="larger sets, or weaker conditions")


def _blocked(joint: Joint) -> int:
    """The first stage whose chains cannot be joined."""
    reached = {NEUTRAL}
    for members, (strand,) in zip(joint.stages, joint.strands, strict=True):
        for tally in strand:
            after = (tally.join(acc, s) for acc in reached for s in tally.paths.table)
            reached = {a[1] for a in after if a is not None}
            if not reached:
                return joint.chains[members[0]].stage
    return 0


def _labels(places: Sequence[VariablePlace]) -> tuple[Label, ...]:
    return tuple(Label(o.span, "open") for o in places[:4] if o.span is not None)
