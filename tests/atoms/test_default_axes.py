"""Default schedules of convolutions and contractions of tensors use atoms that take several dimensions."""

import os
from dataclasses import replace
from math import prod
from pathlib import Path
from random import Random

import pytest

from mdh.frontend.c.read import read_program
from mdh.machine import load_machine
from mdh.schedule.default.atoms import find_matrices
from mdh.schedule.default.contraction_atoms import atom_outline, atom_plans
from mdh.schedule.default.contraction_groups import by_turns, clustered, group_plans
from mdh.schedule.default.group_outline import group_outline
from mdh.schedule.default.group_products import find_groups
from mdh.schedule.default.joining import joining_of
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from tests.atoms.random_axes import drawn_axes, nest_of
from tests.atoms.random_products import Case
from tests.atoms.test_axes import convolution
from tests.atoms.test_defaults import SEED, defaulted
from tests.atoms.test_random_groups import judged

COUNT = int(os.environ.get("MDH_RANDOM_DEFAULTS", "60"))
INPUTS = Path(__file__).parents[2] / "inputs_c"
MOST = 2048
"""Results of a case that is computed."""
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 12, 14, 16, 20)


def drawn(rng: Random) -> str:
    kind, axes = rng.choice(("bf16", "f16", "i8", "f64")), drawn_axes(rng)
    sizes, results = dict[str, int](), MOST + 1
    while results > MOST:
        sizes = {d: rng.choice(SIZES if len(axes[x]) > 1 else (8, 16, 24)) for x in "mn" for d in axes[x]}
        results = prod(sizes.values())
    depth = (32, 40, 64) if kind == "i8" else (16, 24, 40)
    sizes |= {d: rng.choice(depth) for d in axes["k"][:1]} | dict.fromkeys(axes["k"][1:], 2)
    return nest_of(rng, kind, sizes, axes).text


@pytest.mark.parametrize("number", range(COUNT))
def test_any_plan_is_right(number: int) -> None:
    """Not only the plan with the best estimate."""
    rng = Random(SEED + number)
    text, machine = drawn(rng), rng.choice(("h100", "a100"))
    program, on = read_program(Source("p.c", text)), load_machine(machine)
    shape = Shape(program, program.stages[0])
    found = find_matrices(shape, on, "cuda")
    if found is None:
        return
    every = list(atom_plans(shape, found, on, joining_of(shape, on, "cuda")))
    for plan in rng.sample(every, min(len(every), 2)):
        section = atom_outline(shape, found, on, plan).section(program.stages[0].name)
        schedule = Schedule((section,), target=machine, program=program.name)
        judged(Case(text, print_schedule(schedule)), number)


@pytest.mark.parametrize("number", range(COUNT // 3))
def test_any_plan_of_warp_groups_is_right(number: int) -> None:
    rng = Random(SEED + number)
    axes = {"m": "pqt"[: rng.choice((2, 2, 3))], "n": "j", "k": "c"}
    sizes = {d: rng.choice((7, 8, 9, 12, 14, 16)) for d in axes["m"][-2:]} | {
        "j": 64,
        "c": rng.choice((64, 72, 128, 512)),
    }
    sizes |= {d: rng.choice((1, 2, 3)) for d in axes["m"][:-2]}
    nest = nest_of(rng, rng.choice(("bf16", "f16", "i8")), sizes, axes)
    nest.orders |= {"A": axes["m"] + "c", "B": "j" + nest.moved + "c", "C": axes["m"] + "j"}
    nest.loops, nest.batch = axes["m"] + "j", ""
    # of few multiprocessors, so that each has several tiles
    program, on = read_program(Source("p.c", nest.text)), replace(load_machine("h100"), units=1)
    shape = Shape(program, program.stages[0])
    joining = joining_of(shape, on, "cuda")
    for found in find_groups(shape, on, "cuda"):
        every = list(group_plans(shape, found, on, joining))
        shared = [s for plan in every for s in clustered(shape, on, plan)]
        turns = list(by_turns(shape, found, on, joining))
        for plan in (rng.choice(plans) for plans in (every, shared, turns) if plans):
            section = group_outline(shape, on, plan).section(program.stages[0].name)
            schedule = Schedule((section,), target="h100", program=program.name)
            judged(Case(nest.text, print_schedule(schedule)), number)


@pytest.mark.parametrize("number", range(COUNT))
def test_legal_for_every_size(number: int) -> None:
    rng = Random(SEED - number)
    axes = drawn_axes(rng)
    sizes = {d: rng.choice((*SIZES, 28, 32, 56, 64, 100)) for x in "mn" for d in axes[x]}
    sizes |= {d: rng.choice((8, 16, 26, 32, 64, 256)) for d in axes["k"]}
    text = nest_of(rng, rng.choice(("bf16", "f16", "i8", "f64")), sizes, axes).text
    defaulted(text, rng.choice(("h100", "h200", "a100", "rtx4090")))


def test_convolutions_and_contractions_use_atoms() -> None:
    convolved = convolution(56, 56, 1, (8, 14), (2, 7), k=64)
    triples = (INPUTS / "ccsdt_1.c").read_text().replace("float", "double").replace("0.0f", "0")
    for text, several in ((convolved.text, "MMA.m, MMA.m, MMA.n"), (triples, "MMA.m, MMA.n, MMA.m, MMA.n")):
        for machine in ("h100", "a100"):
            program, schedule, module = defaulted(text, machine)
            assert several in schedule
            cubin = compile_cubin(emit(module, program), load_machine(machine).arch)
            assert cubin.warnings == ()
            assert cubin.spill_bytes == 0, schedule
