"""Attributes as plain values, and K110: an attribute without effect.

The parser has checked spelling, arguments and sites (mdh.schedule.attributes). This module checks whether an
attribute can have an effect in its place. Source: language.md section 7.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from mdh.checker.subject import at, listed
from mdh.diagnostics import Diagnostic
from mdh.hardware import BlockOrder, Engine
from mdh.ir.copy_engine import unmapped
from mdh.ir.program import Buffer
from mdh.machine import Machine
from mdh.schedule.model import Arg, ArgCall, Attr

PLACES = {
    "pad": "an input or an output in SM",
    "swizzle": "an input staged in SM",
    "copy": "a staged input",
    "window": "an input staged in a sequential loop",
    "cache": "a staged input or an output",
    "combine": "an output",
    "store": "an output",
    "cyclic": "a THR, WRP or WGP entry",
    "stages": "a step with a sequential loop and staged inputs",
    "unroll": "a step with a sequential loop",
    "order": "the outermost grid step",
    "persistent": "the outermost grid step",
    "occupancy": "the outermost grid step",
    "roles": "the step with BLK",
    "launch": "a step of `loop`, for a loop whose turns run one after another",
    "atom": "an MMA step",
    "acc": "an MMA step",
    "as": "an MMA step",
    "promote": "an MMA step that multiplies 8-bit floats",
    "inflight": "an MMA step with `@atom(wgmma)`, below `@roles`",
}

Found = list[Diagnostic]


def no_effect(attr: Attr, here: str) -> Diagnostic:
    """K110: the attribute has no effect here. Every attribute of a legal schedule can change the program or
    its launch."""
    place = PLACES.get(attr.name, "another entry")
    return Diagnostic(
        "K110", f"`@{attr.name}` has no effect on {here}", at(attr.span), help=f"it belongs to {place}"
    )


def keep(attrs: Iterable[Attr], allowed: Iterable[str], here: str, found: Found) -> dict[str, Attr]:
    """The attributes of an entry by name. Those without effect there are reported and left out."""
    allowed = tuple(allowed)
    found.extend(no_effect(attr, here) for attr in attrs if attr.name not in allowed)
    return {attr.name: attr for attr in attrs if attr.name in allowed}


def argument(attr: Attr, name: str | None = None) -> Arg | None:
    """The first unnamed argument, or the one called `name`."""
    return next((a for a in attr.args if a.name == name), None)


def number(attr: Attr | None, name: str | None = None) -> int | None:
    arg = None if attr is None else argument(attr, name)
    return arg.value if arg is not None and isinstance(arg.value, int) else None


def word(attr: Attr | None) -> str | None:
    arg = None if attr is None else argument(attr)
    return arg.value if arg is not None and isinstance(arg.value, str) else None


@dataclass(frozen=True, slots=True)
class Copying:
    """`@copy(engine, vec=n)`, fallbacks resolved."""

    engine: Engine = Engine.PLAIN
    vec: int | None = None
    multicast: bool = False


def copying(attr: Attr, machine: Machine, buffer: Buffer, found: Found) -> Copying:
    """The first engine of the `else` chain that the machine has; reports K165 if there is none.

    Before an alternative, `tma` is also passed over where it cannot see the array at all.
    """
    vec = number(attr, "vec")
    choice = argument(attr)
    asked: list[str] = []
    while choice is not None:
        engine = Engine(str(choice.value))
        asked.append(engine)
        unseen = engine is Engine.TMA and choice.fallback is not None and unmapped(buffer) is not None
        if engine in machine.copy_engines and not unseen:
            multicast = any(a.value == "multicast" for a in attr.args)
            return Copying(engine, vec, multicast=multicast and engine is Engine.TMA)
        choice = choice.fallback
    engines = listed(machine.copy_engines)
    headline = f"`{machine.name}` has no copy engine {listed(asked)} with this target"
    said = f"its engines: {engines}; `@copy({' else '.join(asked)} else plain)` states a fallback"
    found.append(Diagnostic("K165", headline, at(attr.span), help=said))
    return Copying(Engine.PLAIN, vec)


def ordering(attr: Attr) -> tuple[BlockOrder, int]:
    """`@order(rows | grouped(n) | hilbert)`: the order and its group; `grouped(1)` is `rows`."""
    arg = argument(attr)
    value = BlockOrder.ROWS if arg is None else arg.value
    match value:
        case ArgCall(_, (Arg(int() as group), *_)):
            pass
        case str() if value.startswith("grouped("):
            group = int(value.removeprefix("grouped(").removesuffix(")"))
        case _:
            return BlockOrder(str(value)), 1
    return (BlockOrder.GROUPED, group) if group > 1 else (BlockOrder.ROWS, 1)
