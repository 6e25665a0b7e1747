"""The steps of a product of matrices whose blocks multiply with atoms of warp groups."""

from math import prod

from mdh.hardware import Engine, Layer, Space
from mdh.ir.atoms import GROUP_LANES
from mdh.machine import Machine
from mdh.schedule.default.atoms import Factor, Matrices
from mdh.schedule.default.contraction_atoms import GROUP
from mdh.schedule.default.contraction_groups import FEW, HALOS, REGISTERS, GroupTiling
from mdh.schedule.default.grid import AXES, block_axes, grid_size
from mdh.schedule.default.group_products import SWIZZLE, held_in_registers
from mdh.schedule.default.outline import ScheduleBuilder, attribute, staged
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Arg, ArgCall, Attr, BufferPlace, Mem, Unit


def group_outline(shape: Shape, machine: Machine, plan: GroupTiling) -> ScheduleBuilder:
    """The steps of a plan."""
    first, found = plan.first, plan.product
    axes = block_axes(first, shape.extents, machine, shape.contiguous(shape.writes[0]))
    blocks = grid_size(axes, first, shape.extents)
    attrs: list[Attr] = []
    # a cluster may span a side: then no axis of the grid is left for it
    shares = plan.cluster
    whole = {d for d, n in shares.items() if n > 1 and first[d] * n >= shape.extents[d]}
    ordered = any(d in axes and d not in whole for d in found.rows.dims) and found.n in axes.keys() - whole
    persistent = plan.parts == 1 and blocks > machine.units
    if persistent and ordered:
        attrs.append(attribute("order", ArgCall("grouped", (Arg(GROUP),))))
    if persistent:
        attrs.append(Attr("persistent", ()))
    outline = ScheduleBuilder(shape)
    if max(plan.shared) > 1:
        together = {d: tile * shares.get(d, 1) for d, tile in first.items()}
        clusters = {d: Unit(Layer.CLU, u.axis) for d, u in axes.items()}
        outline.step(together, dict(clusters), entries=plan.entries(shape), attrs=tuple(attrs))
        blocks_of = [d for d, n in shares.items() if n > 1]
        units = {d: Unit(Layer.BLK, axis) for d, axis in zip(blocks_of, AXES, strict=False)}
        outline.step(first, dict(units), attrs=(_roles(found, plan),))
    else:
        attrs.append(_roles(found, plan))
        outline.step(first, dict(axes), entries=plan.entries(shape), attrs=tuple(attrs))
    store = (attribute("store", Engine.TMA),) if plan.boxed else ()
    results = {b: staged(shape, b, Space.RM, None, *store) for b in shape.outputs}
    pairs_of = zip(found.factors, plan.shared, strict=True)
    copies = {f.buffer: _copy(f, shared=count > 1) for f, count in pairs_of}
    slots = attribute("stages", plan.slots)
    if plan.window:
        outer = {d: n for d, n in plan.slices.items() if d not in plan.window}
        left, right = ({f.buffer: copies[f.buffer]} for f in found.factors)
        outline.step(outer, entries=results | left, attrs=(attribute("stages", HALOS),), around=persistent)
        outline.step(plan.slices, entries=right, attrs=(slots,))
    else:
        outline.step(plan.slices, entries=results | copies, attrs=(slots,))
    own = {found.left.buffer: staged(shape, found.left.buffer, Space.RM)} if held_in_registers(found) else {}
    if plan.groups > 1 and not plan.turns:
        units = {d: Unit(Layer.WGP, axis) for d, axis in zip(plan.tiles.split, "yz", strict=False)}
        outline.step(plan.tiles.warp, units, entries=own)
    elif own:
        outline.step(plan.tiles.warp, entries=own)
    atom = found.atom
    tiles = {d: ("m", tile) for d, tile in plan.tiles.atom.items()}
    columns = plan.block[found.n]
    terms = plan.part * prod(shape.extents[d] for d in found.others)
    taken = {**tiles, found.n: ("n", columns), found.k: ("k", atom.k)}
    outline.atoms(taken, atom, *found.promotion(terms))
    return outline


def _roles(found: Matrices, plan: GroupTiling) -> Attr:
    results = prod(plan.size) // (plan.groups * GROUP_LANES)
    shares = REGISTERS.get(plan.groups) if found.accumulators * results > FEW or plan.turns else None
    args = [Arg(1, name="load"), *([Arg(plan.groups, name="math")] if plan.turns else [])]
    args += [Arg(shares, name="regs")] if shares else []
    return Attr("roles", tuple([*args, Arg("turns")] if plan.turns else args))


def _copy(factor: Factor, *, shared: bool) -> Mem:
    layout = tuple(p + 1 for p in factor.layout)
    said = (Arg(Engine.TMA), Arg("multicast")) if shared else (Arg(Engine.TMA),)
    attrs = (Attr("copy", said), attribute("swizzle", SWIZZLE))
    return Mem(BufferPlace(factor.buffer, Space.SM, layout), attrs)
