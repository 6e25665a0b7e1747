"""K138: strips of a further counter in sections of wavefronts, `loop NAME( t, i, j ) { … }`."""

from dataclasses import dataclass, replace

from mdh.checker.options import no_effect
from mdh.checker.subject import at
from mdh.diagnostics import Diagnostic
from mdh.ir.program import Program
from mdh.ir.wavefronts import Wavefronts
from mdh.poly.wavefronts import strips_of
from mdh.schedule.model import Attr, Caret, ForEntry, Section, Step

CODE, SKEW = "K138", "skew"


@dataclass(frozen=True)
class Along:
    """rest: the section without the third counter. strips: of that, None if there is none. tile: of one."""

    rest: Section
    strips: Wavefronts | None = None
    tile: int = 0


def wrong(w: Wavefronts, place: Step | Section, what: str, help_: str) -> Diagnostic:
    return Diagnostic(CODE, f"loop `{w.name}`: {what}", at(place.span), help=help_)


def in_order(w: Wavefronts, section: Section) -> Diagnostic | None:
    """What is wrong with the labels of the steps."""
    labels = [s.label for s in section.steps]
    if labels in ([None] * len(labels), list(range(1, len(labels) + 1))):
        return None
    hint = "number them 1, 2, … or not at all: the order of the text is that of the loops"
    return wrong(w, section.steps[0], "its labels are in another order than its steps", hint)


def strips_in(program: Program, w: Wavefronts, section: Section) -> Along | Diagnostic:
    """The strips that a section says, or what is wrong with them."""
    problem = in_order(w, section)
    if problem is not None or len(section.counters) == 2:
        return problem or Along(section)
    outer, counter = w.counters[0], section.counters[2]
    form = f"(de-)comp( ^, ^, n ) ( ^, ^, FOR.1@skew({outer}, n) )"
    mine: Step | None = None
    rest: list[Step] = []
    for s in section.steps:
        if (len(s.tiles), len(s.cores)) != (3, 3):
            return wrong(w, s, "a step needs three entries in each group", "it has three counters")
        if not isinstance(s.cores[2].value, ForEntry):
            if not (isinstance(s.tiles[2].value, Caret) and isinstance(s.cores[2].value, Caret)):
                return wrong(w, s, f"`{counter}` runs in strips alone", f"write {form}")
            rest.append(replace(s, tiles=s.tiles[:2], cores=s.cores[:2]))
            continue
        plain = all(isinstance(t.value, Caret) and not t.attrs for t in s.tiles[:2])
        plain = plain and all(isinstance(c.value, Caret) and not c.attrs for c in s.cores[:2])
        if mine is not None or not plain:
            return wrong(w, s, f"one step makes the strips of `{counter}`, and nothing else", f"write {form}")
        if any(isinstance(x.cores[1].value, ForEntry) for x in rest):
            return wrong(w, s, "strips are around wavefronts", "write this step before the one that skews")
        mine = s
    if mine is None:
        return wrong(w, section, f"no step makes strips of `{counter}`", f"write {form}")
    factor = _factor(mine, w)
    if isinstance(factor, Diagnostic):
        return factor
    tile = mine.tiles[2].value
    if not isinstance(tile, int):
        return wrong(w, mine, "a strip has a number of places", f"write {form}")
    strips = strips_of(program, w, counter, factor)
    if strips is None:
        return _unordered(program, w, mine, counter)
    told = rest and rest[0].label is not None
    numbered = (replace(s, label=n if told else None) for n, s in enumerate(rest, start=1))
    return Along(replace(section, counters=w.counters, steps=tuple(numbered)), strips, tile)


def _factor(s: Step, w: Wavefronts) -> int | Diagnostic:
    core = s.cores[2]
    own = [a for a in core.attrs if a.name == SKEW]
    for attr in (*s.tiles[2].attrs, *core.attrs, *s.attrs):
        if attr not in own:
            return no_effect(attr, "a step of these loops")
    if not own:
        return 0
    return _said(own[0], w)


def _said(attr: Attr, w: Wavefronts) -> int | Diagnostic:
    counter, *more = (a.value for a in attr.args)
    if counter != w.counters[0]:
        what = f"loop `{w.name}`: `@skew({counter})` does not name its outer counter"
        return Diagnostic(CODE, what, at(attr.span), help=f"write `@skew({w.counters[0]})`")
    return next((n for n in more if isinstance(n, int)), 1)


def _unordered(program: Program, w: Wavefronts, s: Step, counter: str) -> Diagnostic:
    least = strips_of(program, w, counter)
    if least is None:
        what = f"strips of `{counter}` would depend on later ones, however it is skewed"
        return wrong(w, s, what, f"leave `{counter}` out: it is no dimension of all stages, or reaches far")
    what = f"a strip of `{counter}` would need what a later one computes"
    return wrong(w, s, what, f"write `@skew({w.counters[0]}, {least.factor})`")
