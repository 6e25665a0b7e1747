"""Default schedules: a good schedule for any program, as a starting point to edit.

Each class of stage has a file. It decides which dimensions go to blocks, threads and vector lanes, and what
is staged where. All functions are pure functions of a stage and a machine. The checker accepts what they
write, for every size.
"""

from dataclasses import replace

from mdh.cost.gpu import Joining
from mdh.ir.domain import domain_of
from mdh.ir.program import DimKind, Program, Stage
from mdh.machine import Machine
from mdh.schedule.default.constants import by_constants
from mdh.schedule.default.contraction import contraction, find_contraction
from mdh.schedule.default.fusing import joined
from mdh.schedule.default.joining import joining_of
from mdh.schedule.default.map import map_stage
from mdh.schedule.default.outline import ScheduleBuilder
from mdh.schedule.default.reduction import reduction
from mdh.schedule.default.scan import scan
from mdh.schedule.default.scatter import scatter
from mdh.schedule.default.shape import Shape
from mdh.schedule.default.stencil import is_stencil, stencil
from mdh.schedule.model import Schedule, Section


def default_schedule(
    program: Program, machine: Machine, target: str, *, deterministic: bool = False
) -> Schedule:
    """A schedule without holes for every stage. deterministic: nothing is summed in order of arrival."""
    sections = tuple(
        default_section(program, stage, machine, target, deterministic=deterministic)
        for stage in program.stages
    )
    return Schedule(sections, target=machine.name, program=program.name)


def default_section(
    program: Program, stage: Stage, machine: Machine, target: str, *, deterministic: bool = False
) -> Section:
    """The steps of one stage. target: `cuda`, `opencl` or `c`; deterministic: as for the schedule."""
    return default_outline(program, stage, machine, target, deterministic=deterministic).section(stage.name)


def default_outline(
    program: Program, stage: Stage, machine: Machine, target: str, *, deterministic: bool = False
) -> ScheduleBuilder:
    """The same, with what chose them."""
    shape = Shape(program, stage)
    joining = Joining.KERNEL if deterministic else joining_of(shape, machine, target)
    if stage.scattered:
        outline = scatter(shape, machine)
    elif any(d.kind is DimKind.PS for d in stage.dims):
        outline = scan(shape, machine)
    elif (unrolled := by_constants(shape, machine)) is not None:
        outline = unrolled
    elif (
        found := find_contraction(inside := _inside(shape, machine), gpu=machine.kind != "cpu")
    ) is not None:
        outline = contraction(inside, found, machine, target, joining)
    elif shape.of_kind(DimKind.PW):
        outline = reduction(joined(shape), machine, target, adding=joining is Joining.IN_PLACE)
    elif is_stencil(shape):
        outline = stencil(shape, machine)
    else:
        outline = map_stage(joined(shape), machine)
    return outline


def _inside(shape: Shape, machine: Machine) -> Shape:
    """The stage without its affine conditions. On a CPU, code for points that all hold is a product's."""
    domain = domain_of(shape.stage, shape.program.turns) if machine.kind == "cpu" else None
    if domain is None or shape.program.inputs(domain.inside) != shape.inputs:
        # the schedule has an entry for each input of the stage
        return shape
    return replace(shape, stage=domain.inside)
