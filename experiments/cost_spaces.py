"""Random legal schedules near the shipped ones: tiles, orders, regions, vectors and unrolling drawn anew."""

from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from mdh.checker.run import check
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.hardware import Layer, Space
from mdh.ir.plan import Plan
from mdh.ir.program import Program, Stage
from mdh.machine import Machine
from mdh.schedule.default import default_schedule
from mdh.schedule.model import (
    Attr,
    BufferPlace,
    Caret,
    Core,
    ForEntry,
    Hole,
    Mem,
    Schedule,
    Section,
    Step,
    TileEntry,
    Unit,
)
from mdh.schedule.parser import parse_schedule
from mdh.source import Source

ROOT = Path(__file__).resolve().parent.parent
LANES = (2, 4, 8, 16)
TRIES = 400
"""Draws after which no legal schedule is expected any more."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A program at bound sizes, and the files under schedules/ that draws start from (with the default)."""

    name: str
    program: str
    sizes: tuple[tuple[str, int], ...]
    bases: tuple[str, ...]
    fit: bool = True
    """Part of what constants are fitted to; the others show how far the model carries."""


def _space(name: str, program: str, bases: str, fit: bool = True, /, **sizes: int) -> Subject:
    return Subject(name, program, tuple(sizes.items()), tuple(bases.split()), fit)


CPU = (
    _space("matmul_256", "matmul", "matmul/generic-cpu/base matmul/generic-cpu/plain", M=256, N=256, K=256),
    _space("matmul_512", "matmul", "matmul/generic-cpu/base matmul/generic-cpu/plain", M=512, N=512, K=512),
    _space("conv2d", "conv2d", "conv2d/generic-cpu/base", N=1, H=56, W=56, C=3, K=32, R=7, S=7, STRIDE=2),
    _space("matvec", "matvec", "matvec/generic-cpu/base", M=2048, K=2048),
    _space("jacobi2d", "jacobi2d", "jacobi2d/generic-cpu/base", N=2048, M=2048),
    _space("transpose", "transpose", "transpose/generic-cpu/base", M=2048, N=2048),
    _space("batched", "batched_matmul_t", "batched_matmul_t/generic-cpu/base", BATCH=100, M=72, N=26, K=26),
    _space("ccsdt", "ccsdt_1", "ccsdt_1/generic-cpu/base", A=12, B=8, C=16, D=8, E=12, F=16, G=24),
    _space("matmul_t", "matmul_t", "matmul_t/generic-cpu/base", False, M=300, N=200, K=400),
    _space("dense", "matmul_bias_relu", "matmul_bias_relu/generic-cpu/base", False, M=64, N=512, K=512),
    _space("filter5x5", "filter5x5", "filter5x5/generic-cpu/base", False, H=512, W=512, R=5, S=5),
    _space("row_max", "row_max", "row_max/generic-cpu/base", False, M=1024, N=2048),
    _space("softmax", "softmax", "softmax/generic-cpu/base", False, M=512, N=1024),
    _space("prefix_sum", "prefix_sum", "prefix_sum/generic-cpu/base", False, N=1 << 21),
    _space("jacobi3d", "jacobi3d", "jacobi3d/generic-cpu/base", False, N=128, M=128, L=128),
    _space(
        "grouped_conv",
        "grouped_conv",
        "grouped_conv/generic-cpu/base",
        False,
        N=4,
        G=8,
        C=16,
        F=16,
        H=14,
        W=14,
        R=3,
        S=3,
    ),
    _space(
        "gather_sum",
        "gather_sum",
        "gather_sum/generic-cpu/base",
        False,
        BAGS=1024,
        LENGTH=50,
        ROWS=20000,
        D=64,
    ),
    _space("row_argmax", "row_argmax", "row_argmax/generic-cpu/base", False, M=1024, N=2048),
    _space("matmul_tall", "matmul", "matmul/generic-cpu/plain", False, M=1000, N=24, K=300),
)
GPU = (
    _space("matmul_1024", "matmul", "matmul/h200/base matmul/h200/small_tile", M=1024, N=1024, K=1024),
    _space("matmul_1000x2048", "matmul", "matmul/h200/split_k matmul/h200/base", M=1, N=1000, K=2048),
    _space("conv2d", "conv2d", "conv2d/h200/base", N=16, H=112, W=112, C=3, K=64, R=7, S=7, STRIDE=2),
    _space("matvec", "matvec", "matvec/h200/base matvec/h200/staged", M=8192, K=8192),
    _space("jacobi2d", "jacobi2d", "jacobi2d/h200/base", N=4096, M=4096),
    _space("transpose", "transpose", "transpose/h200/base", M=4096, N=4096),
    _space("batched", "batched_matmul_t", "batched_matmul_t/h200/base", BATCH=500, M=72, N=26, K=26),
    _space(
        "ccsdt", "ccsdt_1", "ccsdt_1/h200/all ccsdt_1/h200/all.wide", A=24, B=16, C=16, D=16, E=24, F=16, G=24
    ),
    _space("dense", "matmul_bias_relu", "matmul_bias_relu/h200/base", False, M=128, N=1024, K=1024),
    _space("row_max", "row_max", "row_max/h200/base", False, M=4096, N=4096),
    _space("jacobi3d", "jacobi3d", "jacobi3d/h200/base", False, N=256, M=256, L=256),
)


def read_space(space: Subject) -> Program:
    path = ROOT / "inputs_c" / f"{space.program}.c"
    return read_program(Source(str(path), path.read_text(encoding="utf-8")), defines=dict(space.sizes))


def bases_of(space: Subject, program: Program, machine: Machine, target: str) -> list[Schedule]:
    """The shipped schedules, without holes, and the default one."""
    out = [default_schedule(program, machine, target)]
    for name in space.bases:
        path = ROOT / "schedules" / f"{name}.mdh"
        out.append(parse_schedule(Source(str(path), path.read_text(encoding="utf-8"))))
    return [replace(s, target=None, program=None) for s in out]


def draw_plan(rng: Random, program: Program, bases: list[Schedule], machine: Machine, target: str) -> Plan:
    """A legal plan; how far it is from its base is drawn too. Raises LookupError where none is found."""
    for _ in range(TRIES):
        schedule = _draw(rng, program, rng.choice(bases), machine)
        try:
            return check(program, schedule, machine, target, default=bases[0])
        except Failed:
            continue
    raise LookupError(f"no legal schedule of {program.name} in {TRIES} draws")


def _draw(rng: Random, program: Program, base: Schedule, machine: Machine) -> Schedule:
    change = rng.choice((0.2, 0.5, 0.8))
    named = {s.name: s for s in program.stages}
    sections = []
    for section in base.sections:
        stage = named[section.name] if section.name is not None else program.stages[0]
        sections.append(_section(rng, program, stage, section, change, machine))
    return replace(base, sections=tuple(sections))


def _section(
    rng: Random, program: Program, stage: Stage, section: Section, change: float, machine: Machine
) -> Section:
    tiles = [d.extent for d in stage.dims]
    steps = []
    for position, step in enumerate(section.steps):
        following = section.steps[position + 1] if position + 1 < len(section.steps) else None
        fresh = _tiles(rng, step, following, tiles, change)
        tiles = [t if isinstance(t, int) else old for t, old in zip(fresh, tiles, strict=True)]
        steps.append(
            replace(
                step,
                tiles=tuple(TileEntry(t) for t in fresh),
                inputs=tuple(
                    _memory(rng, program, m, name, change)
                    for m, name in zip(step.inputs, program.inputs(stage), strict=True)
                ),
                cores=_cores(rng, step.cores, change),
                attrs=_attributes(rng, step.attrs, change, machine),
            )
        )
    return replace(section, steps=tuple(steps))


def _tiles(
    rng: Random, step: Step, following: Step | None, tiles: list[int], change: float
) -> list[int | Caret]:
    out: list[int | Caret] = []
    for d, tile in enumerate(step.tiles):
        parent = tiles[d]
        vector = _is_vector(step.cores[d])
        lanes = following is not None and _is_vector(following.cores[d])
        value = tile.value
        if vector or rng.random() > (change if isinstance(value, int) else change / 8):
            keep = value if isinstance(value, Caret) else min(int(str(value)), parent)
            out.append(keep)
        elif lanes:
            out.append(rng.choice([n for n in LANES if n <= parent] or [parent]))
        else:
            out.append(rng.choice(_choices(parent)))
    return out


def _choices(parent: int) -> list[int]:
    """Divisors of the parent tile, and powers of two up to it: the default domain of `?`."""
    divisors = {n for n in range(1, parent + 1) if parent % n == 0}
    return sorted(divisors | {1 << k for k in range(parent.bit_length()) if 1 << k <= parent})


def _is_vector(core: Core) -> bool:
    return isinstance(core.value, Unit) and core.value.layer == Layer.VEC


def _memory(rng: Random, program: Program, mem: Mem, name: str, change: float) -> Mem:
    if isinstance(mem.value, BufferPlace) and not isinstance(layout := mem.value.layout, Hole):
        if rng.random() < change / 3:
            return Mem(Caret())
        if rng.random() < change / 3:
            return replace(mem, value=replace(mem.value, layout=_permuted(rng, len(layout))))
    elif rng.random() < change / 12:
        rank = len(program.buffer_of[name].shape)
        return Mem(BufferPlace(name, Space.SM, _permuted(rng, rank)))
    return mem


def _permuted(rng: Random, rank: int) -> tuple[int, ...]:
    return tuple(rng.sample(range(1, rank + 1), rank))


def _cores(rng: Random, cores: tuple[Core, ...], change: float) -> tuple[Core, ...]:
    """The same words, now and then on other dimensions."""
    values = [c.value for c in cores]
    loops = [i for i, v in enumerate(values) if isinstance(v, ForEntry)]
    if len(loops) > 1 and rng.random() < change:
        order = rng.sample([values[i] for i in loops], len(loops))
        for i, v in zip(loops, order, strict=True):
            values[i] = v
    units = [i for i, v in enumerate(values) if isinstance(v, Unit)]
    if units and rng.random() < change / 4:
        i, j = rng.choice(units), rng.randrange(len(values))
        values[i], values[j] = values[j], values[i]
    if any(isinstance(v, Unit) and v.layer == "VEC" for v in values) and rng.random() < change / 6:
        return tuple(Core(Caret()) for _ in cores)
    return tuple(Core(v, c.attrs if v == c.value else ()) for v, c in zip(values, cores, strict=True))


def _attributes(rng: Random, attrs: tuple[Attr, ...], change: float, machine: Machine) -> tuple[Attr, ...]:
    kept = tuple(a for a in attrs if rng.random() > change / 4)
    if rng.random() < change / 10:
        return (*(a for a in kept if a.name != "unroll"), Attr("unroll"))
    return kept
