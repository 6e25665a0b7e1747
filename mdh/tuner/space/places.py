"""Gives every hole of a schedule a name and a place; the space is made of these.

Holes without a name get one from where they stand (`2.tile.i`), so that `bind` can fill all of them alike.
They lose their sets: the space sees to those, and also gives `^` as the number that it stands for.
`@copy(?)` leaves the width open too (language section 6: engines of the machine × legal widths), so it
becomes two holes.
"""

from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from mdh.ir.program import Program, Stage
from mdh.results.trial import Value
from mdh.schedule.attribute_values import matched
from mdh.schedule.attributes import ATTRIBUTES, Parameter
from mdh.schedule.model import (
    Arg,
    ArgCall,
    Attr,
    BufferPlace,
    Core,
    Hole,
    How,
    Mem,
    Section,
    Step,
    TileEntry,
    Way,
)
from mdh.source import Span

E = TypeVar("E", TileEntry, Core)
COUNTS = (1, 2, 4, 8, 16)
"""The values of a hole inside `grouped(?)`: language section 7."""


@dataclass(frozen=True, slots=True)
class VariablePlace:
    """One place of a variable. values: its set; None for the default domain of the place.

    what: `tile`, `core`, `memory`, `region`, `layout`, `entry` (of a layout), `argument`, or `stage` (how a
    stage is computed). dim: of a tile or
    core. buffer: of the others. named: whether the user named it.
    """

    variable: str
    what: str
    values: tuple[Value, ...] | None
    stage: str
    step: int
    dim: int = 0
    buffer: str = ""
    attribute: str = ""
    parameter: Parameter | None = None
    named: bool = False
    span: Span | None = field(default=None, compare=False)


@dataclass
class Namer:
    """Walks one section and collects openings."""

    program: Program
    stage: Stage
    prefix: str
    taken: set[str]
    ways: tuple[str, ...] = ()
    """Of computing the stage inside of others, in launches of others, or by a library, in words."""
    openings: list[VariablePlace] = field(default_factory=list)
    step: int = 0
    label: str = ""
    above: int = 0
    """Steps in front that are those of a loop around the stage."""

    def section(self, section: Section) -> Section:
        steps = []
        for number, step in enumerate(section.steps):
            label = number + 1 if step.label is None else step.label
            self.step, self.label = number, str(label - self.above if label else label)
            steps.append(self._step(step))
        return replace(section, how=self._how(section), steps=tuple(steps))

    def _how(self, section: Section) -> Way:
        """The way of the stage, whose hole belongs to no step."""
        how = section.how
        if not isinstance(how, Hole):
            return how
        name = how.name or self._fresh(f"{self.stage.name}.how")
        ways = how.values or (*(way.value for way in How), *self.ways)
        named = how.name is not None
        self.openings.append(
            VariablePlace(name, "stage", ways, self.stage.name, 0, named=named, span=how.span)
        )
        return Hole(name, None, how.span)

    def _step(self, step: Step) -> Step:
        inputs, outputs = self.program.inputs(self.stage), self.program.outputs(self.stage)
        return replace(
            step,
            tiles=tuple(self._entry(d, t, "tile") for d, t in enumerate(step.tiles)),
            inputs=tuple(self._mem(b, m) for b, m in zip(inputs, step.inputs, strict=False)),
            outputs=tuple(self._mem(b, m) for b, m in zip(outputs, step.outputs, strict=False)),
            cores=tuple(self._entry(d, c, "core") for d, c in enumerate(step.cores)),
            attrs=self._attrs("", step.attrs),
        )

    def _entry(self, d: int, entry: E, what: str) -> E:
        """The entry of a dimension. what: `tile` or `core`."""
        dim = self.stage.dims[d].name if d < len(self.stage.dims) else str(d + 1)
        value: Any = entry.value
        if isinstance(value, Hole):
            value = self._open(value, what, f"{what}.{dim}", dim=d)
        return replace(entry, value=value, attrs=self._attrs(f"{dim}.", entry.attrs))

    def _mem(self, buffer: str, mem: Mem) -> Mem:
        value = mem.value
        match value:
            case Hole():
                value = self._open(value, "memory", buffer, buffer=buffer)
            case BufferPlace():
                value = self._place(value)
            case _:
                pass
        return replace(mem, value=value, attrs=self._attrs(f"{buffer}.", mem.attrs, buffer))

    def _place(self, place: BufferPlace) -> BufferPlace:
        name, region, layout = place.buffer, place.region, place.layout
        if isinstance(region, Hole):
            region = self._open(region, "region", f"{name}.region", buffer=name)
        if isinstance(layout, Hole):
            layout = self._open(layout, "layout", f"{name}.layout", buffer=name)
        else:
            layout = tuple(
                self._open(e, "entry", f"{name}.layout.{n + 1}", buffer=name) if isinstance(e, Hole) else e
                for n, e in enumerate(layout)
            )
        return BufferPlace(name, region, layout)

    def _attrs(self, where: str, attrs: tuple[Attr, ...], buffer: str = "") -> tuple[Attr, ...]:
        return tuple(self._attr(where, attr, buffer) for attr in attrs)

    def _attr(self, where: str, attr: Attr, buffer: str) -> Attr:
        if attr.name not in ATTRIBUTES:
            return attr
        attr = _with_width(attr)
        parameters = {id(arg): parameter for arg, parameter in matched(attr)}
        args = []
        for arg in attr.args:
            parameter = parameters.get(id(arg))
            name = f"{where}{attr.name}" + (f".{arg.name}" if arg.name else "")
            args.append(arg if parameter is None else self._arg(name, attr.name, arg, parameter, buffer))
        return replace(attr, args=tuple(args))

    def _arg(self, name: str, attribute: str, arg: Arg, parameter: Parameter, buffer: str) -> Arg:
        value = arg.value
        more = {"attribute": attribute, "buffer": buffer, "parameter": parameter}
        match value:
            case Hole():
                value = self._open(value, "argument", name, **more)  # type: ignore[arg-type]
            case ArgCall(call, (Arg(Hole(_, values) as inner),)):
                counted = replace(inner, values=values or COUNTS)
                hole = self._open(counted, "argument", f"{name}.{call}", **more)  # type: ignore[arg-type]
                value = ArgCall(call, (Arg(hole),))
            case _:
                pass
        fallback = arg.fallback
        if fallback is not None:
            fallback = self._arg(f"{name}.else", attribute, fallback, parameter, buffer)
        return replace(arg, value=value, fallback=fallback)

    def _open(
        self,
        hole: Hole,
        what: str,
        place: str,
        *,
        dim: int = 0,
        buffer: str = "",
        attribute: str = "",
        parameter: Parameter | None = None,
    ) -> Hole:
        name = hole.name or self._fresh(f"{self.prefix}{self.label}.{place}")
        self.openings.append(
            VariablePlace(name, what, hole.values, self.stage.name, self.step, dim, buffer,
                    attribute, parameter, hole.name is not None, hole.span)
        )  # fmt: skip
        return Hole(name, None, hole.span)

    def _fresh(self, name: str) -> str:
        count, wanted = 2, name
        while name in self.taken:
            name, count = f"{wanted}.{count}", count + 1
        self.taken.add(name)
        return name


def _with_width(attr: Attr) -> Attr:
    """`@copy(?)` as `@copy(?, vec=?)`, where no width is given."""
    first = attr.args[0].value if attr.args else None
    if attr.name != "copy" or not isinstance(first, Hole) or first.name or first.values:
        return attr
    if any(arg.name == "vec" for arg in attr.args):
        return attr
    return replace(attr, args=(*attr.args, Arg(Hole(None, None, first.span), "vec")))
