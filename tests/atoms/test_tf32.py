"""Products of f32 by atoms that read tf32: the user must allow them, and they are as far off as the numerics
of the plan say."""

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

import mdh
from mdh.cli.main import run as command
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.dtype import F32, TF32
from mdh.ir.numerics import Numerics, numerics_of
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.reference.evaluate import evaluate_bounded
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from mdh.tuner.measure.wire import read_text, text_json
from mdh.tuner.space import ExactSpace, make_space
from mdh.verify.verdict import fits
from tests.atoms.blocks import as_tf32
from tests.atoms.products import Product, Tiling, lowered, planned
from tests.atoms.random_products import by_groups, by_warps
from tests.atoms.test_products import LAYOUTS, right
from tests.atoms.warps import run

WARPS = Tiling((64, 32, 32), (32, 16), (16, 8, 8), rows=("@pad(4)", "@pad(8)"), more="@as(tf32)")
GROUPS = """1: (de-)comp( 128, 64, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @roles(load=1, math=2)
2: (de-)comp( ^, ^, 32 )
  ( A:SM[1,2]@copy(tma)@swizzle(128), B:SM[1,2]@copy(tma)@swizzle(128) ; C:RM[1,2] )
  ( ^, ^, FOR.1 ) @stages(2)
3: (de-)comp( 64, ^, ^ ) ( ^, ^ ; ^ ) ( WGP.y, ^, ^ )
4: (de-)comp( 64, 64, 8 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) @atom(wgmma) @as(tf32)
"""
NT = Product("tf32", "NT", 128, 64, 64)
CASES = {"warps": (Product("tf32", "NN", 64, 32, 64), WARPS.text), "groups": (NT, GROUPS)}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("k", [8, 4])
def test_by_warps_in_every_layout(k: int, layout: str) -> None:
    right(Product("tf32", layout, 128, 64, 64), replace(WARPS, atom=(16, 8, k)))


@pytest.mark.parametrize("copy", ["plain", "async"])
def test_edges(copy: str) -> None:
    right(Product("tf32", "TN", 67, 70, 45), replace(WARPS, copy=copy, stages=3))


@pytest.mark.parametrize("name", CASES)
def test_factors_are_rounded_to_nearest(name: str) -> None:
    """The plan's numerics allow the result of the rounded factors, and those of f32 do not."""
    product, schedule = CASES[name]
    program, module = lowered(product.text, schedule)
    draw = np.random.default_rng(0)
    arrays = {b.name: draw.uniform(-1, 1, b.shape).astype(np.float32) for b in program.buffers}
    want = evaluate_bounded(program, arrays, numerics=module.numerics)["C"]
    own = evaluate_bounded(program, arrays)["C"]
    rounded = product.expected({x: as_tf32(arrays[x]).view(np.float32) for x in "AB"})
    run(module, arrays, seed=1)
    np.testing.assert_allclose(arrays["C"], rounded, atol=1e-5)
    assert fits(arrays["C"], want).all()
    assert not fits(arrays["C"], own).all()


def test_numerics_travel_with_the_text() -> None:
    program, plan = planned(NT.text, GROUPS)
    wanted = (("C", Numerics(factor_bits=11, sum_bits=23, block=4)),)
    assert numerics_of(plan) == wanted
    pipeline = Pipeline()
    text = pipeline.emit(pipeline.lower(plan), program)
    assert text.numerics == wanted
    assert read_text(text_json(text)) == text


def test_the_copy_engine_rounds_what_groups_read_and_nothing_else() -> None:
    _, module = lowered(NT.text, GROUPS)
    assert {m.buffer: m.dtype for m in module.kernels[0].maps} == {"A": TF32, "B": TF32}
    boxed = replace(WARPS, copy="tma", rows=("@swizzle(128)", "@swizzle(128)"))
    _, module = lowered(Product("tf32", "NN", 128, 128, 64).text, boxed.text)
    assert {m.dtype for m in module.kernels[0].maps} == {F32}


def test_factors_that_nobody_has_rounded_are_found() -> None:
    """The interpreter refuses what hardware would cut off."""
    program, module = lowered(NT.text, GROUPS)
    (kernel,) = module.kernels
    maps = tuple(replace(m, dtype=F32) for m in kernel.maps)
    draw = np.random.default_rng(0)
    arrays = {b.name: draw.uniform(-1, 1, b.shape).astype(np.float32) for b in program.buffers}
    with pytest.raises(AssertionError, match="more bits"):
        run(replace(module, kernels=(replace(kernel, maps=maps),)), arrays, seed=1)


@pytest.mark.parametrize("machine", ["a100", "h100", "rtx4090"])
@pytest.mark.parametrize("k", [8, 4])
def test_compiles_for_warps(machine: str, k: int) -> None:
    tiling = replace(WARPS, atom=(16, 8, k))
    program, module = lowered(Product("tf32", "NN", 128, 64, 64).text, tiling.text, machine)
    cubin = compile_cubin(emit(module, program), load_machine(machine).arch)
    assert (cubin.spill_bytes, cubin.warnings) == (0, ())


@pytest.mark.parametrize("columns", [8, 24, 104, 256])
def test_compiles_for_groups(columns: int) -> None:
    product = replace(NT, n=columns)
    schedule = GROUPS.replace("128, 64, ^", f"128, {columns}, ^").replace("64, 64, 8", f"64, {columns}, 8")
    program, module = lowered(product.text, schedule)
    cubin = compile_cubin(emit(module, program), load_machine("h200").arch)
    assert (cubin.spill_bytes, cubin.warnings) == (0, ())


def test_random_schedules_with_it_are_accepted_at_times() -> None:
    """Else the random tests would show nothing."""
    texts = [make(Random(seed)) for seed in range(150) for make in (by_groups, by_warps)]
    legal = 0
    for case in (c for c in texts if "tf32" in c.schedule):
        try:
            planned(case.text, case.schedule)
        except Failed:
            continue
        legal += 1
    assert legal > 8


# -- consent -------------------------------------------------------------------------------------

PLAIN = Product("tf32", "NN", 64, 32, 64).text.replace("#pragma mdh allow(tf32)", "")


def checked(text: str, allow: tuple[str, ...]) -> None:
    mdh.check(Source("p.c", text), Source("s.mdh", WARPS.text), "a100", allow=allow)


def test_python_refuses_it_without_consent() -> None:
    with pytest.raises(Failed) as refused:
        checked(PLAIN, ())
    (only,) = refused.value.diagnostics
    assert only.code == "K176"
    for way in ("--allow tf32", "#pragma mdh allow(tf32)", 'allow=("tf32",)'):
        assert way in str(only.help)
    checked(PLAIN, ("tf32",))
    checked(Product("tf32", "NN", 64, 32, 64).text, ())


@pytest.mark.parametrize(
    ("machine", "layout", "issuer"),
    [("a100", "NN", "mma"), ("rtx4090", "TT", "mma"), ("h100", "NN", "wgmma"), ("h100", "NT", "wgmma")],
)
def test_defaults_use_it_with_consent_alone(machine: str, layout: str, issuer: str) -> None:
    text = Product("tf32", layout, 256, 256, 256).text
    allowed = mdh.check(Source("p.c", text), machine=machine).text
    assert f"@atom({issuer}) @as(tf32)" in allowed
    plain = text.replace("#pragma mdh allow(tf32)", "")
    assert "MMA" not in mdh.check(Source("p.c", plain), machine=machine).text
    assert "@as(tf32)" in mdh.check(Source("p.c", plain), machine=machine, allow=("tf32",)).text


@pytest.mark.parametrize(("machine", "target"), [("v100", "cuda"), ("h100", "opencl"), ("generic-cpu", "c")])
def test_defaults_without_atoms_stay_as_they_are(machine: str, target: str) -> None:
    text = Product("tf32", "NN", 256, 256, 256).text
    plain = Source("p.c", text.replace("#pragma mdh allow(tf32)", ""))
    found = [mdh.check(s, machine=machine, target=target).text for s in (Source("p.c", text), plain)]
    assert found[0] == found[1]


def test_spaces_hold_it_with_consent_alone() -> None:
    def space(text: str) -> ExactSpace:
        given = parse_schedule(Source("s.mdh", WARPS.text.replace("@as(tf32)", "@as(?)")))
        return make_space(read_program(Source("p.c", text)), given, load_machine("a100"), "cuda")

    allowed = space(Product("tf32", "NN", 64, 32, 64).text)
    assert [v.values for v in allowed.variables] == [("tf32",)]
    assert not isinstance(allowed.plan(("tf32",)), Failed)
    refused = space(PLAIN).plan(("tf32",))
    assert isinstance(refused, Failed)
    assert {d.code for d in refused.diagnostics} == {"K176"}


def test_words_that_allow_nothing() -> None:
    with pytest.raises(Failed, match="F119"):
        checked(PLAIN, ("tf31",))
    with pytest.raises(TypeError, match="allow"):
        checked(PLAIN, "tf32")  # type: ignore[arg-type]  # users forget the comma


@pytest.mark.parametrize("verb", ["check", "compile", "explain"])
def test_commands_refuse_it_without_consent(verb: str, tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PLAIN, encoding="utf-8")
    (tmp_path / "s.mdh").write_text(WARPS.text, encoding="utf-8")
    words = [verb, str(tmp_path / "p.c"), "-s", str(tmp_path / "s.mdh"), "-m", "a100"]
    assert command(words) == 1
    assert command([*words, "--allow", "tf32"]) == 0


def test_strict_floats_refuse_it_all_the_same() -> None:
    with pytest.raises(Failed, match="K132"):
        mdh.check(Source("p.c", PLAIN), Source("s.mdh", WARPS.text), "a100", allow=("tf32",), strict_fp=True)
