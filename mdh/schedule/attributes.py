"""The table of attributes: where each may stand, its arguments, their values, and the domain of `?`.

Only this table knows an attribute's form. The parser reads spelling and values from it, and the checker and
the search space read domains. The checker decides whether an attribute has an effect in its place.
"""

from dataclasses import dataclass
from enum import StrEnum

from mdh.hardware import CacheHint, Combine, Engine


class Site(StrEnum):
    """What an attribute is attached to."""

    TILE = "a tile size"
    INPUT = "an input entry"
    OUTPUT = "an output entry"
    CORE = "a core entry"
    STEP = "a step"


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


ENGINES = tuple(map(str, Engine))
COMBINES = tuple(map(str, Combine))
CACHE_HINTS = tuple(map(str, CacheHint))
_WIDTH = Parameter("vec", numbers=(1, 16), domain=(1, 2, 4), required=False)
_POWERS = (1, 2, 4, 8, 16)

_ALL = (
    Attribute(
        "pad",
        (Site.INPUT, Site.OUTPUT),
        (Parameter(numbers=(0, 1024), domain=(0, 1, 2, 4, 8)),),
        neutral=((0,),),
        form="@pad(n)",
    ),
    Attribute(
        "swizzle",
        (Site.INPUT, Site.OUTPUT),
        (Parameter(choices=(32, 64, 128), domain=(32, 64, 128)),),
        form="@swizzle(32 | 64 | 128)",
    ),
    Attribute(
        "copy",
        (Site.INPUT,),
        (
            Parameter(words=ENGINES, domain=ENGINES, fallbacks=True),
            Parameter(words=("multicast",), required=False),
            _WIDTH,
        ),
        neutral=((Engine.PLAIN,),),
        form="@copy(plain | async | tma [, multicast] [, vec=n])",
    ),
    Attribute(
        "stages",
        (Site.STEP,),
        (Parameter(numbers=(1, 16), domain=(1, 2, 3, 4, 5, 6)),),
        neutral=((1,),),
        form="@stages(1 … 16)",
    ),
    Attribute(
        "roles",
        (Site.STEP,),
        (
            Parameter("load", numbers=(1, 8), domain=(1, 2)),
            Parameter("math", numbers=(1, 8), domain=(1, 2, 3)),
            Parameter("regs", ratio=True, required=False),
        ),
        form="@roles(load=a, math=b, regs=x/y)",
    ),
    Attribute(
        "unroll",
        (Site.STEP,),
        (Parameter(words=("full",), numbers=(1, 1024), domain=("full", *_POWERS), required=False),),
        form="@unroll or @unroll(n)",
    ),
    Attribute(
        "cyclic",
        (Site.CORE,),
        (Parameter(numbers=(1, 1 << 16), domain=(1, 2, 4, 8)),),
        form="@cyclic(n)",
    ),
    Attribute(
        "order",
        (Site.STEP,),
        (
            Parameter(
                words=("rows", "hilbert"),
                calls=("grouped",),
                domain=("rows", *(f"grouped({n})" for n in _POWERS[1:]), "hilbert"),
            ),
        ),
        neutral=(("rows",), ("grouped(1)",)),
        form="@order(rows | grouped(n) | hilbert)",
    ),
    Attribute("persistent", (Site.STEP,), form="@persistent"),
    Attribute("occupancy", (Site.STEP,), (Parameter(numbers=(1, 32), domain=_POWERS),), form="@occupancy(n)"),
    Attribute(
        "combine",
        (Site.OUTPUT,),
        (Parameter(words=COMBINES, domain=COMBINES),),
        form="@combine(shuffle | shared | cluster | atomic | ticket | kernel)",
    ),
    Attribute("window", (Site.INPUT,), form="@window"),
    Attribute(
        "store",
        (Site.OUTPUT,),
        (
            Parameter(words=("plain", "tma"), domain=("plain", "tma")),
            _WIDTH,
            Parameter("subtile", numbers=(1, 1024), domain=(32, 64, 128), required=False),
        ),
        neutral=((Engine.PLAIN,),),
        form="@store(plain [, vec=n]) or @store(tma [, subtile=n])",
    ),
    Attribute(
        "cache",
        (Site.INPUT, Site.OUTPUT),
        (Parameter(words=CACHE_HINTS, domain=CACHE_HINTS),),
        neutral=((CacheHint.DEFAULT,),),
        form="@cache(default | stream | keep)",
    ),
    Attribute(
        "atom",
        (Site.STEP,),
        (Parameter(words=("wgmma", "mma", "dmma"), domain=("wgmma", "mma", "dmma")),),
        form="@atom(wgmma | mma | dmma)",
    ),
    Attribute(
        "acc",
        (Site.STEP,),
        (Parameter(words=("f32", "f16", "f64", "s32"), domain=("f32", "f16", "f64", "s32")),),
        form="@acc(f32 | f16 | f64 | s32)",
    ),
    Attribute("inflight", (Site.STEP,), (Parameter(numbers=(0, 2), domain=(0, 1)),), form="@inflight(0 … 2)"),
)

ATTRIBUTES: dict[str, Attribute] = {a.name: a for a in _ALL}
