"""K136: the tiles of a pass, which the stages that are reduced together share."""

from collections.abc import Collection, Iterator, Mapping

from mdh.checker.inner_places import Inner
from mdh.checker.online import CODE as PASS
from mdh.checker.online import Part, part_of, readers_of, unfit_place
from mdh.checker.subject import at
from mdh.decompose.accesses import access_groups
from mdh.decompose.image import covers, image
from mdh.diagnostics import Diagnostic
from mdh.hardware import Space
from mdh.ir.plan import StagePlan
from mdh.ir.program import Program
from mdh.ir.tile import Tile
from mdh.schedule.model import Section, Within


def pass_part(plan: StagePlan, sections: Mapping[str, Section], *, cpu: bool) -> Part:
    """What each turn of the host's loops takes. Raises PassError."""
    assert plan.stage.host is not None
    first = plan.stage.host.carried[0][0]
    outermost = [first, *readers_of(sections, first)][-2]
    how = sections[outermost].how
    assert isinstance(how, Within)
    return part_of(plan, how.step, cpu=cpu)


def placed(one: Inner, part: Part | None, carried: dict[str, Tile]) -> str:
    """Enters the tiles of a stage of the pass; says why they cannot be where they are."""
    assert one.stage.carried is not None and part is not None and one.step is not None
    tile = one.copies(one.outputs[0])[0].tile
    why = unfit_place(one.reader, one.step, tile, part, one.stage.carried.host)
    carried.update(dict.fromkeys(one.stage.carried.arrays, tile))
    return why


def near_in_pass(
    plan: StagePlan, carried: Mapping[str, Tile], sections: Mapping[str, Section], found: list[Diagnostic]
) -> dict[str, Space]:  # fmt: skip
    """The arrays of the pass that a stage uses, which lie in tiles. K136: it reads more than these."""
    out = {b: carried[b].space for b in plan.stage.read | plan.stage.written if b in carried}
    every = frozenset(lv.var for lv in plan.tiles.levels.all)
    for buffer in sorted(out.keys() - plan.stage.written):
        groups = [g for g in access_groups(plan.program, plan.stage) if g.buffer == buffer and not g.store]
        tile = carried[buffer]
        inside = every - {n for axis in tile.axes for n in axis.low.names}
        images = (not g.gather and image(plan.tiles.levels, g.affine, g.shifts, inside) for g in groups)
        if not all(x and covers(tile.axes, x) for x in images):
            headline = f"stage `{plan.stage.name}` reads elements of `{buffer}` that are not in its tile"
            hint = "a larger tile, or units that compute the same results in all stages of the pass"
            place = at(sections[plan.stage.name].span)
            found.append(Diagnostic(PASS, headline, place, help=hint))
    return out


def copied(
    plan: StagePlan, carried: Collection[str], program: Program, sections: Mapping[str, Section]
) -> Iterator[Diagnostic]:
    """K136. Tiles of the pass are staged only where they are computed."""
    for step in plan.steps:
        for staging in step.stagings:
            by = [s for s in program.stages if staging.buffer in s.written and s.carried is not None]
            how = sections[by[0].name].how if by else None
            here = isinstance(how, Within) and (how.reader, how.step) == (plan.stage.name, step.label)
            if staging.buffer in carried and not here:
                headline = f"`{staging.buffer}` lies in a tile of the pass, and step {step.label} copies it"
                place = at(staging.span or step.span)
                yield Diagnostic(PASS, headline, place, help="write `^`: the tile is read where it lies")
