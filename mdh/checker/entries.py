"""Memory entries of a step as plan values: Staging for inputs, Holding for outputs."""

from mdh.checker.options import Copying, Found, copying, keep, number, word
from mdh.checker.subject import Draft
from mdh.hardware import CacheHint, Combine, Engine, Space
from mdh.ir.plan import Holding, Staging
from mdh.schedule.model import Attr, BufferPlace, Mem

SM_ATTRS = ("pad", "swizzle", "copy", "cache", "window")
RM_ATTRS = ("copy", "cache", "window")
OUT_ATTRS = ("combine", "store", "cache")
OUT_SM_ATTRS = ("pad", *OUT_ATTRS)


def staging_of(draft: Draft, buffer: str, mem: Mem, found: Found) -> Staging | None:
    """The copy that an input entry asks for; None for `^` and for the memory in which the buffer starts."""
    place = mem.value if isinstance(mem.value, BufferPlace) else None
    region = region_of(place)
    if place is None or region is None:
        keep(mem.attrs, (), "an input that is not staged here", found)
        return None
    attrs = keep(
        mem.attrs, SM_ATTRS if region == Space.SM else RM_ATTRS, f"an input staged in {region}", found
    )
    held = draft.program.buffer_of[buffer]
    copy = copying(attrs["copy"], draft.machine, held, found) if "copy" in attrs else Copying()
    return Staging(
        buffer,
        region,
        layout_of(place),
        pad=number(attrs.get("pad")) or 0,
        swizzle=number(attrs.get("swizzle")) or 0,
        engine=copy.engine,
        vec=copy.vec,
        cache=_cache_hint(attrs.get("cache")),
        window="window" in attrs,
        multicast=copy.multicast,
        span=mem.span,
    )


def holding_of(draft: Draft, buffer: str, mem: Mem, found: Found) -> Holding | None:
    """The region that an output entry opens, or only its attributes; None for a bare `^`."""
    place = mem.value if isinstance(mem.value, BufferPlace) else None
    region = region_of(place)
    shared = region is Space.SM
    attrs = keep(
        mem.attrs, OUT_SM_ATTRS if shared else OUT_ATTRS, f"an output{' in SM' if shared else ''}", found
    )
    if region is None and not attrs:
        return None
    natural = tuple(range(len(draft.program.buffer_of[buffer].shape)))
    return Holding(
        buffer,
        region,
        layout_of(place) if place is not None else natural,
        pad=number(attrs.get("pad")) or 0,
        combine=Combine(method) if (method := word(attrs.get("combine"))) else None,
        vec=number(attrs.get("store"), "vec"),
        engine=Engine(word(attrs.get("store")) or Engine.PLAIN),
        subtile=number(attrs.get("store"), "subtile"),
        cache=_cache_hint(attrs.get("cache")),
        span=mem.span,
    )


def _cache_hint(attr: Attr | None) -> CacheHint:
    return CacheHint(word(attr) or CacheHint.DEFAULT)


def region_of(place: BufferPlace | None) -> Space | None:
    """SM or RM; None for the memory in which buffers start."""
    if place is None or not isinstance(place.region, Space) or place.region in (Space.DM, Space.HM):
        return None
    return place.region


def layout_of(place: BufferPlace) -> tuple[int, ...]:
    """The layout as a 0-based permutation of the buffer's dimensions, the slowest first."""
    layout = place.layout if isinstance(place.layout, tuple) else ()
    return tuple(n - 1 for n in layout if isinstance(n, int))
