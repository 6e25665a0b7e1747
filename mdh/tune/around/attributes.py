"""Changes of attributes: any that the language has, where it may stand, with the values of its `?`."""

from dataclasses import replace
from random import Random

from mdh.schedule.attributes import ATTRIBUTES, Attribute, Site
from mdh.schedule.model import Arg, ArgCall, Attr, Caret, Place
from mdh.tune.around.subject import Steps, Subject, put

_LEFT_OUT = frozenset({"atom", "acc", "roles"})
"""They need an MMA step, or warps that load for others."""
_GONE = 0.3
"""Chance that an attribute that is there goes; otherwise it gets another value."""


def attributed(steps: Steps, subject: Subject, rng: Random) -> Steps | None:
    """An attribute of a step or of an entry comes, goes, or gets another value."""
    at = rng.randrange(len(steps))
    step = steps[at]
    site = rng.choice([Site.STEP, Site.STEP, Site.INPUT, Site.OUTPUT, Site.CORE])
    known = [a for a in ATTRIBUTES.values() if site in a.sites and a.name not in _LEFT_OUT]
    attribute = rng.choice(known)
    if site is Site.STEP:
        return put(steps, at, replace(step, attrs=_changed(step.attrs, attribute, rng)))
    if site is Site.CORE:
        dims = [d for d, core in enumerate(step.cores) if not isinstance(core.value, Caret)]
        if not dims:
            return None
        d = rng.choice(dims)
        core = replace(step.cores[d], attrs=_changed(step.cores[d].attrs, attribute, rng))
        return put(steps, at, replace(step, cores=(*step.cores[:d], core, *step.cores[d + 1 :])))
    entries = step.inputs if site is Site.INPUT else step.outputs
    fitting = [n for n, e in enumerate(entries) if isinstance(e.value, Place) or at == 0]
    if not fitting:
        return None
    n = rng.choice(fitting)
    entry = replace(entries[n], attrs=_changed(entries[n].attrs, attribute, rng))
    entries = (*entries[:n], entry, *entries[n + 1 :])
    if site is Site.INPUT:
        return put(steps, at, replace(step, inputs=entries))
    return put(steps, at, replace(step, outputs=entries))


def _changed(attrs: tuple[Attr, ...], attribute: Attribute, rng: Random) -> tuple[Attr, ...]:
    others = tuple(a for a in attrs if a.name != attribute.name)
    there = next((a for a in attrs if a.name == attribute.name), None)
    if there is not None and (not attribute.parameters or rng.random() < _GONE):
        return others
    domain = attribute.parameters[0].domain if attribute.parameters else ()
    values = [Attr(attribute.name, (_argument(value),)) for value in domain] or [Attr(attribute.name)]
    return (*others, rng.choice([a for a in values if a != there]))


def _argument(value: int | str) -> Arg:
    """`grouped(8)` is a call; what a machine may lack has something to fall back on."""
    head, bracket, rest = str(value).partition("(")
    if bracket:
        return Arg(ArgCall(head, (Arg(int(rest[:-1])),)))
    return Arg(value, fallback=Arg("plain")) if value == "async" else Arg(value)
