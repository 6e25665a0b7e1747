"""Random illegal schedules: every witness must hold, and legal ones must cover and keep order."""

from dataclasses import replace
from random import Random

import pytest

from mdh.checker.footprint import register_words, shared_bytes
from mdh.checker.resolve import resolve
from mdh.checker.rules.combine import choose_combines
from mdh.checker.subject import Draft, Subject
from mdh.decompose.tiles import decompose
from mdh.diagnostics import Diagnostic
from mdh.ir.dtype import F32
from mdh.ir.program import DimKind, Program
from mdh.language import LANGUAGES
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from tests.check.programs import conv, dot, histogram, matmul, rowsum, scan
from tests.check.schedules import refused
from tests.check.witness import holds, visits

SEEDS = range(60)
"""Of the 200 that a release is judged by."""
SMALL = replace(
    load_machine("h100"),
    threads_per_block=64,
    block_limits=(64, 32, 8),
    grid_limits=(64, 16, 8),
    shared_per_block=256,
    registers_per_thread=24,
    cluster=4,
)
LAYERS = ("BLK", "BLK", "THR", "THR", "WRP", "VEC", "CLU")


def random_program(rng: Random) -> Program:
    strict = rng.random() < 0.3
    return rng.choice(
        (
            matmul(rng.randint(1, 12), rng.randint(1, 12), rng.randint(1, 12), strict=strict),
            dot(rng.randint(1, 60), strict=strict),
            rowsum(4, rng.randint(2, 8), rng.randint(2, 8), strict=strict),
            scan(rng.randint(2, 80)),
            conv(rng.randint(2, 16), 3),
            histogram(rng.randint(2, 60), 8, F32),
        )
    )


def random_text(rng: Random, program: Program) -> str:
    """Steps drawn without a thought for the rules, save for those of the grammar."""
    stage = program.stages[0]
    tiles = [d.extent for d in stage.dims]
    steps = []
    labels = list(range(1, 5))
    shuffled = rng.random() < 0.4
    count = rng.randint(1, 4)
    if shuffled:
        labels = rng.sample(labels[:count], count)
    for n in range(count):
        below = [rng.randint(1, t) if rng.random() < 0.6 else t for t in tiles]
        layer = rng.choice(LAYERS)
        axes = rng.sample("xyz", 3)
        cores = [
            f"{layer}.{axes[d % 3]}" + _cyclic(rng, layer, below[d]) if rng.random() < 0.4 else "^"
            for d in range(len(below))
        ]
        inputs = [_place(rng, program, b, 0.25) for b in program.inputs(stage)]
        outputs = [_place(rng, program, b, 0.2) for b in program.outputs(stage)]
        groups = (map(str, below), (f"{', '.join(inputs)} ; {', '.join(outputs)}",), cores)
        text = " ".join(f"( {', '.join(g)} )" for g in groups)
        steps.append(f"{labels[n]}: (de-)comp{text}")
        tiles = below
    return "\n".join(steps) + "\n"


def _cyclic(rng: Random, layer: str, tile: int) -> str:
    return (
        f"@cyclic({rng.randint(1, max(1, tile))})" if layer in ("THR", "WRP") and rng.random() < 0.4 else ""
    )


def _place(rng: Random, program: Program, buffer: str, chance: float) -> str:
    if rng.random() > chance:
        return "^"
    order = [str(n + 1) for n in range(len(program.buffer_of[buffer].shape))]
    rng.shuffle(order)
    return f"{buffer}:{rng.choice(('SM', 'RM'))}[{','.join(order)}]"


def draft_of(program: Program, text: str, deterministic: bool) -> Draft:
    steps = parse_schedule(Source("s.mdh", text)).sections[0].steps
    return Draft(program, program.stages[0], steps, LANGUAGES["cuda"].seen(SMALL), "cuda", deterministic)


@pytest.mark.parametrize("seed", SEEDS)
def test_witnesses_hold(seed: int) -> None:
    rng = Random(f"illegal {seed}")
    judged = 0
    while judged < 4:
        program = random_program(rng)
        text = random_text(rng, program)
        deterministic = rng.random() < 0.5
        found = refused(program, text, SMALL, deterministic=deterministic)
        plan, _ = resolve(draft_of(program, text, deterministic))
        for diagnostic in (d for d in found if d.witness):
            judged += 1
            assert holds(diagnostic, program, plan), f"seed {seed}: {diagnostic}\n{text}"
        if not found:
            _is_legal(program, text, deterministic)


def _is_legal(program: Program, text: str, deterministic: bool) -> None:
    """What the checker promises of a legal schedule, counted out."""
    draft = draft_of(program, text, deterministic)
    plan, _ = resolve(draft)
    dims = tuple(range(len(plan.stage.dims)))
    points = [tuple(v.point.values()) for v in visits(plan, dims)]
    total = 1
    for d in plan.stage.dims:
        total *= d.extent
    assert len(points) == len(set(points)) == total, text
    kept = tuple(d for d in dims if plan.stage.dims[d].kind is DimKind.PS)
    if kept:
        ordered = [tuple(v.point.values()) for v in sorted(visits(plan, kept), key=lambda v: v.time)]
        assert ordered == sorted(ordered), text
    assert plan.units("THR") * plan.units("WRP") <= SMALL.threads_per_block
    chosen = choose_combines(Subject(draft, plan))
    tiles = decompose(program, chosen, cpu=False)
    assert shared_bytes(chosen, tiles, cpu=False) <= SMALL.shared_per_block
    assert register_words(chosen, tiles) <= SMALL.registers_per_thread


def test_a_false_witness_is_noticed() -> None:
    program = scan(16)
    text = "(de-)comp( 4 ) ( ^ ; ^ ) ( THR.x )"
    plan, _ = resolve(draft_of(program, text, False))
    false = Diagnostic("K130", "", witness=(("dims", ("i",)), ("first", (3,)), ("second", (3,))))
    assert not holds(false, program, plan)
