"""The table of attributes: where each may stand, its arguments, their values, and the domain of `?`.

Only this table knows an attribute's form. The parser reads spelling and values from it, and the checker and
the search space read domains. The checker decides whether an attribute has an effect in its place.
"""

from dataclasses import dataclass
from enum import StrEnum

from mdh.hardware import CacheHint, Combine, Engine, Launching
from mdh.ir.program import ROUNDINGS


class Site(StrEnum):
    """What an attribute is attached to."""

    TILE = "a tile size"
    INPUT = "an input entry"
    OUTPUT = "an output entry"
    CORE = "a core entry"
    STEP = "a step"
    STAGE = "a stage"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of an attribute.

    name: None for a positional argument. words, numbers (an inclusive range), choices: the legal values.
    calls: words that take one number in parentheses (`grouped(8)`), which is in the range `call_numbers`.
    ratio: whether `40/232` is legal. domain: what a bare `?` ranges over. fallbacks: whether `else` may
    follow.
    """

    name: str | None = None
    words: tuple[str, ...] = ()
    numbers: tuple[int, int] | None = None
    choices: tuple[int, ...] = ()
    calls: tuple[str, ...] = ()
    call_numbers: tuple[int, int] = (1, 1 << 16)
    ratio: bool = False
    domain: tuple[int | str, ...] = ()
    required: bool = True
    fallbacks: bool = False


@dataclass(frozen=True, slots=True)
class Attribute:
    """neutral: argument texts with which it has no effect; the canonical form then drops it."""

    name: str
    sites: tuple[Site, ...]
    parameters: tuple[Parameter, ...] = ()
    neutral: tuple[tuple[int | str, ...], ...] = ()
    form: str = ""


def _one_of(*words: str, required: bool = True, fallbacks: bool = False) -> Parameter:
    """One of these words; `?` ranges over all of them."""
    plain = tuple(map(str, words))
    return Parameter(words=plain, domain=plain, required=required, fallbacks=fallbacks)


def _number(low: int, high: int, *domain: int, name: str | None = None, required: bool = True) -> Parameter:
    """A number in a range; `?` ranges over `domain`."""
    return Parameter(name, numbers=(low, high), domain=domain, required=required)


_WIDTH = _number(1, 16, 1, 2, 4, name="vec", required=False)
_POWERS = (1, 2, 4, 8, 16)
_BUFFERS = (Site.INPUT, Site.OUTPUT)
_COUNTED = Parameter(words=("full",), numbers=(1, 1024), domain=("full", *_POWERS), required=False)
_ORDERS = Parameter(
    words=("rows", "hilbert"),
    calls=("grouped",),
    domain=("rows", *(f"grouped({n})" for n in _POWERS[1:]), "hilbert"),
)
_SHARES = ("40/232", "32/160", "24/240", "24/152", "40/112")
"""Registers of a thread that copies and of one that computes, for two, three or four warp groups of those."""
_ROLES = (
    _number(1, 8, 1, name="load"),
    _number(1, 8, 1, 2, 3, name="math", required=False),
    Parameter("regs", ratio=True, domain=_SHARES, required=False),
    _one_of("together", "turns", required=False),
)
_COPY = (_one_of(*Engine, fallbacks=True), Parameter(words=("multicast",), required=False), _WIDTH)
_STORE = (_one_of("plain", "tma"), _WIDTH, _number(1, 1024, 32, 64, 128, name="subtile", required=False))
_COMBINE = Parameter(words=tuple(Combine), domain=tuple(m for m in Combine if m is not Combine.STREAM))
_SWIZZLE = Parameter(choices=(32, 64, 128), domain=(32, 64, 128))
_PROMOTE = Parameter(choices=(64, 128, 256), domain=(64, 128, 256))
_ACC = ("f32", "f16", "f64", "s32")

_ALL = (
    Attribute("pad", _BUFFERS, (_number(0, 1024, 0, 1, 2, 4, 8),), ((0,),), "@pad(n)"),
    Attribute("swizzle", _BUFFERS, (_SWIZZLE,), (), "@swizzle(32 | 64 | 128)"),
    Attribute(
        "copy", (Site.INPUT,), _COPY, ((Engine.PLAIN,),), "@copy(plain | async | tma [, multicast] [, vec=n])"
    ),
    Attribute("stages", (Site.STEP,), (_number(1, 16, 1, 2, 3, 4, 5, 6),), ((1,),), "@stages(1 … 16)"),
    Attribute("roles", (Site.STEP,), _ROLES, (), "@roles(load=a [, math=b] [, regs=x/y] [, turns])"),
    Attribute("unroll", (Site.STEP,), (_COUNTED,), (), "@unroll or @unroll(n)"),
    Attribute("cyclic", (Site.CORE,), (_number(1, 1 << 16, 1, 2, 4, 8),), (), "@cyclic(n)"),
    Attribute(
        "order", (Site.STEP,), (_ORDERS,), (("rows",), ("grouped(1)",)), "@order(rows | grouped(n) | hilbert)"
    ),
    Attribute("persistent", (Site.STEP,), form="@persistent"),
    Attribute("occupancy", (Site.STEP,), (_number(1, 32, *_POWERS),), (), "@occupancy(n)"),
    Attribute("launch", (Site.STEP,), (_one_of(*Launching),), (), "@launch(host | graph | persistent)"),
    Attribute("combine", (Site.OUTPUT,), (_COMBINE,), (), f"@combine({' | '.join(Combine)})"),
    Attribute("window", (Site.INPUT,), form="@window"),
    Attribute(
        "store",
        (Site.OUTPUT,),
        _STORE,
        ((Engine.PLAIN,),),
        "@store(plain [, vec=n]) or @store(tma [, subtile=n])",
    ),
    Attribute(
        "cache", _BUFFERS, (_one_of(*CacheHint),), ((CacheHint.DEFAULT,),), "@cache(default | stream | keep)"
    ),
    Attribute("atom", (Site.STEP,), (_one_of("wgmma", "mma", "dmma"),), (), "@atom(wgmma | mma | dmma)"),
    Attribute("acc", (Site.STEP,), (_one_of(*_ACC),), (), "@acc(f32 | f16 | f64 | s32)"),
    Attribute("as", (Site.STEP,), (_one_of(*ROUNDINGS),), (), f"@as({' | '.join(ROUNDINGS)})"),
    Attribute("inflight", (Site.STEP,), (_number(0, 2, 0, 1),), (), "@inflight(0 … 2)"),
    Attribute("once", (Site.STAGE,), form="@once"),
    Attribute("promote", (Site.STEP,), (_PROMOTE,), (), "@promote(64 | 128 | 256)"),
)

ATTRIBUTES: dict[str, Attribute] = {a.name: a for a in _ALL}
