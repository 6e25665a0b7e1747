"""Products whose rows, columns and terms have several dimensions: default schedules fuse neighbours, and are
right in the interpreter."""

import os
from random import Random

import numpy as np
import pytest

from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.reference.evaluate import evaluate_bounded
from mdh.schedule.default import default_schedule
from mdh.schedule.model import Section
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from mdh.verify.verdict import fits
from tests.atoms.blocks import numpy_type
from tests.atoms.products import Product, whole_numbers
from tests.atoms.random_fused import Contraction, contraction
from tests.atoms.warps import run
from tests.support.corpus import WORKLOADS

COUNT = int(os.environ.get("MDH_RANDOM_ATOMS", "24"))


def point_convolution(**sizes: int) -> Program:
    return read_program(WORKLOADS["conv2d_half"].source, defines={"R": 1, "S": 1, "STRIDE": 1, **sizes})


def section_of(program: Program, machine: str = "h200") -> Section:
    return default_schedule(program, load_machine(machine), "cuda").sections[0]


@pytest.mark.parametrize("batch", [16, 64])
def test_a_point_convolution_has_the_steps_of_its_product(batch: int) -> None:
    section = section_of(point_convolution(N=batch, H=14, W=14, C=1024, K=256))
    assert section.groups == (("n", "p", "q"),)
    product = Product("f16", "NT", batch * 14 * 14, 256, 1024, out="_Float16")
    alike = section_of(read_program(Source("product.c", product.text)))
    for mine, theirs in zip(section.steps, alike.steps, strict=True):
        rows, columns, _, _, terms = zip(mine.tiles, mine.cores, strict=True)
        assert [rows, columns, terms] == [*zip(theirs.tiles, theirs.cores, strict=True)]
        assert mine.attrs == theirs.attrs


def test_no_spills_in_a_point_convolution() -> None:
    program, on = point_convolution(N=16, H=14, W=14, C=1024, K=256), load_machine("h200")
    arrows = Pipeline()
    text = emit(arrows.lower(arrows.check(program, None, on, "cuda").plan), program)
    cubin = compile_cubin(text, on.arch)
    assert cubin.spill_bytes == 0 and not cubin.warnings


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("ccsdt_1", (("a", "b"), ("e", "f"))),
        ("ccsdt_3", (("b", "c"), ("e", "f"))),
        ("ccsdt_1_double", (("a", "b"), ("e", "f"))),
    ],
)
def test_neighbours_in_a_contraction_are_fused(name: str, groups: tuple[tuple[str, ...], ...]) -> None:
    assert section_of(read_program(WORKLOADS[name].source)).groups == groups


def test_a_contraction_that_is_a_product_is_fused() -> None:
    case = Contraction("f32", ((5, 7), (32,), (16,)), "NT", narrow=False, apart=False)
    program = read_program(Source("contraction.c", case.text))
    for machine in ("h200", "v100"):
        assert section_of(program, machine).groups == (("i0", "i1"),)


@pytest.mark.parametrize("seed", range(COUNT))
def test_default_schedules_are_right(seed: int) -> None:
    rng = Random(seed)
    case, on = contraction(rng), load_machine(rng.choice(("h200", "h200", "a100")))
    program = read_program(Source("contraction.c", case.text))
    schedule = default_schedule(program, on, "cuda")
    assert parse_schedule(Source("<default>", print_schedule(schedule))) == schedule
    long = {d.name for d in program.stages[0].dims if d.extent > 1}
    assert {tuple(n for n in g if n in long) for g in schedule.sections[0].groups} <= case.groups
    module = lower(Pipeline().check(program, schedule, on, "cuda").plan)
    arrays = whole_numbers(program, seed)
    want = evaluate_bounded(program, arrays, exact=True)["C"]
    arrays["C"] = np.full(arrays["C"].shape, 77, numpy_type(program.buffer_of["C"].dtype))
    run(module, arrays, seed=seed)
    assert fits(arrays["C"], want).all(), case


def test_many_of_the_drawn_contractions_are_fused_on_tensor_cores() -> None:
    found = 0
    for seed in range(COUNT):
        program = read_program(Source("contraction.c", contraction(Random(seed)).text))
        section = section_of(program)
        found += bool(section.groups) and "MMA" in print_schedule(
            default_schedule(program, load_machine("h200"), "cuda")
        )
    assert found >= COUNT // 3, found
