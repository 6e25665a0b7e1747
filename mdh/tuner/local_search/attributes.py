"""Changes of attributes: any attribute of the language where it may stand, with the values of its `?`."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from mdh.hardware import Engine, Layer, Space
from mdh.schedule.attributes import ATTRIBUTES, Attribute, Parameter, Site
from mdh.schedule.model import Arg, ArgCall, Attr, BufferPlace, Caret, Mem, Unit
from mdh.tuner.local_search.subject import SearchSubject, Steps, entries_of, put, with_entry

_LEFT_OUT = frozenset({"atom", "acc", "as", "launch", "skew"})
"""Attributes that follow from the types and the units of an MMA step, and those of loops around stages."""
_AT: Mapping[str, Layer] = {"roles": Layer.BLK, "inflight": Layer.MMA}
"""Attributes of steps that split over a layer."""
_SPANS = (128, 128, 64, 32, None)
"""Of the swizzle of what the copy engine copies; None: none."""
_GONE = 0.3
"""The probability that a chosen attribute is removed; otherwise it gets another value."""
_FIRST = 0.7
"""The probability that the first of several arguments is the one that changes."""
_WORDS = ("multicast",)
"""Arguments without a name that are either present or absent."""


def attributed(steps: Steps, subject: SearchSubject, rng: Random) -> Steps | None:
    """Adds, removes or changes an attribute of a step or of an entry."""
    at = rng.randrange(len(steps))
    step = steps[at]
    site = rng.choice([Site.STEP, Site.STEP, Site.INPUT, Site.OUTPUT, Site.CORE])
    layers = {c.value.layer for c in step.cores if isinstance(c.value, Unit)}
    fitting_here = [a for a in ATTRIBUTES.values() if _AT.get(a.name) in (None, *layers)]
    attribute = rng.choice([a for a in fitting_here if site in a.sites and a.name not in _LEFT_OUT])
    if site is Site.STEP:
        return put(steps, at, replace(step, attrs=_changed(step.attrs, attribute, rng)))
    if site is Site.CORE:
        dims = [d for d, core in enumerate(step.cores) if not isinstance(core.value, Caret)]
        if not dims:
            return None
        d = rng.choice(dims)
        core = replace(step.cores[d], attrs=_changed(step.cores[d].attrs, attribute, rng))
        return put(steps, at, replace(step, cores=(*step.cores[:d], core, *step.cores[d + 1 :])))
    entries, inputs = entries_of(step), len(step.inputs)
    fitting = [
        n for n, entry in enumerate(entries)
        if (n < inputs) == (site is Site.INPUT)
        and (isinstance(entry.value, BufferPlace) or entry.attrs or at == 0)
    ]  # fmt: skip
    if not fitting:
        return None
    n = rng.choice(fitting)
    return with_entry(steps, at, n, replace(entries[n], attrs=_changed(entries[n].attrs, attribute, rng)))


def _changed(attrs: tuple[Attr, ...], attribute: Attribute, rng: Random) -> tuple[Attr, ...]:
    others = tuple(a for a in attrs if a.name != attribute.name)
    there = next((a for a in attrs if a.name == attribute.name), None)
    if there is not None and (not attribute.parameters or rng.random() < _GONE):
        return others
    if not attribute.parameters:
        return (*others, Attr(attribute.name))
    first, *further = attribute.parameters
    if there is not None and further and rng.random() >= _FIRST:
        return (*others, _further(there, rng.choice(further), rng))
    kept = there.args[1:] if there is not None else ()
    values = [Attr(attribute.name, (_argument(value, first.name), *kept)) for value in first.domain]
    # the only value may be there already
    return (*others, rng.choice([a for a in values if a != there] or values))


def _further(attr: Attr, parameter: Parameter, rng: Random) -> Attr:
    """The attribute with another value of an argument after the first, or without it."""
    first, *rest = attr.args
    is_it = [a.name == parameter.name and (a.name is not None or a.value in _WORDS) for a in rest]
    kept = [a for a, it in zip(rest, is_it, strict=True) if not it]
    choices: list[int | str | None] = [*(parameter.domain or parameter.words), None]
    value = rng.choice(choices)
    added = [] if value is None else [Arg(value, parameter.name)]
    return replace(attr, args=(first, *added, *kept))


def _argument(value: int | str, name: str | None) -> Arg:
    """The argument. `grouped(8)` is a call; a value that a machine may lack gets a fallback."""
    head, bracket, rest = str(value).partition("(")
    if bracket:
        return Arg(ArgCall(head, (Arg(int(rest[:-1])),)))
    return Arg(value, name, Arg(Engine.PLAIN)) if value == Engine.ASYNC else Arg(value, name)


def moved_by(steps: Steps, subject: SearchSubject, rng: Random) -> Steps | None:
    """Copies all inputs that a step stages in SM by another engine: the copy engine takes all or none."""
    staged = [s for s, step in enumerate(steps) if any(map(_in_shared, step.inputs))]
    if not staged or len(subject.engines) < 2:
        return None
    at = rng.choice(staged)
    engine, span = rng.choice(subject.engines), rng.choice(_SPANS)
    inputs = tuple(_copied(m, engine, span) if _in_shared(m) else m for m in steps[at].inputs)
    return put(steps, at, replace(steps[at], inputs=inputs))


def _copied(entry: Mem, engine: Engine, span: int | None) -> Mem:
    """span: of the swizzle that comes with the copy engine, which neither pads nor has hints."""
    boxes = engine is Engine.TMA
    gone = ("copy", "pad", "swizzle", "window", "cache") if boxes else ("copy",)
    attrs = [a for a in entry.attrs if a.name not in gone]
    if engine is not Engine.PLAIN:
        attrs.append(Attr("copy", (Arg(engine),)))
    if boxes and span is not None:
        attrs.append(Attr("swizzle", (Arg(span),)))
    return replace(entry, attrs=tuple(attrs))


def _in_shared(entry: Mem) -> bool:
    return isinstance(entry.value, BufferPlace) and entry.value.region is Space.SM
