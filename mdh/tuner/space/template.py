"""The schedule that points are bound into. Its holes accept any value of the space."""

from dataclasses import replace

from mdh.schedule.model import Arg, ArgCall, Attr, Core, Hole, Mem, Place, Section, Step, Tile


def unlimited(section: Section) -> Section:
    """The section with holes without their sets. The space enforces the sets, and it gives `^` as the number
    that it stands for."""
    return replace(section, steps=tuple(map(_step, section.steps)))


def _step(step: Step) -> Step:
    return replace(
        step,
        tiles=tuple(map(_tile, step.tiles)),
        inputs=tuple(map(_mem, step.inputs)),
        outputs=tuple(map(_mem, step.outputs)),
        cores=tuple(map(_core, step.cores)),
        attrs=_attrs(step.attrs),
    )


def _tile(tile: Tile) -> Tile:
    value = _free(tile.value) if isinstance(tile.value, Hole) else tile.value
    return replace(tile, value=value, attrs=_attrs(tile.attrs))


def _core(core: Core) -> Core:
    value = _free(core.value) if isinstance(core.value, Hole) else core.value
    return replace(core, value=value, attrs=_attrs(core.attrs))


def _free(hole: Hole) -> Hole:
    return Hole(hole.name, None, hole.span)


def _mem(mem: Mem) -> Mem:
    value = mem.value
    match value:
        case Hole():
            value = _free(value)
        case Place(buffer, region, layout):
            region = _free(region) if isinstance(region, Hole) else region
            if isinstance(layout, Hole):
                layout = _free(layout)
            else:
                layout = tuple(_free(e) if isinstance(e, Hole) else e for e in layout)
            value = Place(buffer, region, layout)
        case _:
            pass
    return replace(mem, value=value, attrs=_attrs(mem.attrs))


def _attrs(attrs: tuple[Attr, ...]) -> tuple[Attr, ...]:
    return tuple(replace(a, args=tuple(map(_arg, a.args))) for a in attrs)


def _arg(arg: Arg) -> Arg:
    value = arg.value
    match value:
        case Hole():
            value = _free(value)
        case ArgCall(name, args):
            value = ArgCall(name, tuple(map(_arg, args)))
        case _:
            pass
    fallback = None if arg.fallback is None else _arg(arg.fallback)
    return replace(arg, value=value, fallback=fallback)
