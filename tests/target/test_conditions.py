"""Values under conditions, on compilers that make masked reads and blends of them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from mdh.device.api import open_device
from mdh.device.protocols import Device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.faults import NONE
from mdh.target.reads_first import REMARK
from tests.support.native import compiler, run_native
from tests.support.pairs import arguments, planned
from tests.support.random_conditions import FORMS, random_conditional
from tests.support.random_schedules import random_schedule

needs_compiler = pytest.mark.skipif(compiler() is None, reason="no C compiler here")
GENERIC = load_machine("generic-cpu")
KEPT = "void f(const float a[256], float b[256], const int c[256]) { for (int i = 0; i < 256; i++) %s }\n"


def _text(body: str, target: str = "c", *, plain: bool = False) -> str:
    program = read_program(Source("f.c", KEPT % body))
    module = lower(planned(program, None, GENERIC, target))
    return emit(module, program, NONE if plain else None).source


@pytest.mark.parametrize(
    "body",
    [
        "if (c[i]) b[i] = a[i];",
        "b[i] = c[i] ? a[i] : 0;",
        "b[i] = c[i] ? (c[i] > 1 ? a[i] : 3) : 2;",
        "b[i] = c[i] && a[i] > 2 ? 1 : 2;",
    ],
)
def test_what_a_condition_guards_is_read_before_it(body: str) -> None:
    text = _text(body)
    assert text.count(f"// {REMARK}\n") == 1
    assert "const float a_read = a[" in text
    assert "a_read" not in _text(body, plain=True)


@pytest.mark.parametrize(
    "body",
    ["b[i] = i > 5 ? a[i - 6] : 1;", "b[i] = c[i] >= 0 && c[i] < 256 ? a[c[i]] : 1;", "b[i] += a[i];"],
    ids=["edge", "gather", "none"],
)
def test_a_place_that_needs_its_condition_stays_behind_it(body: str) -> None:
    try:
        text = _text(body)
    except Failed as failed:
        pytest.skip(f"refused: {failed.diagnostics[0].code}")
    assert "a_read" not in text


def test_opencl_keeps_conditions_as_they_are() -> None:
    assert "a_read" not in _text("if (c[i]) b[i] = a[i];", "opencl")


def _opened(spec: str, option: str, monkeypatch: pytest.MonkeyPatch) -> Device:
    if option:
        monkeypatch.setenv("CC", f"{compiler()} {option}")
    try:
        return open_device(spec)
    except Failed as failed:
        pytest.skip(failed.diagnostics[0].headline)


def _wrong(seed: int, device: Device, folder: Path, *, drawn: bool) -> str | None:
    """The texts of a seed whose results differ from the compiler's at -O1, None where they are equal."""
    random = random_conditional(seed)
    program = read_program(random.source)
    arrays = arguments(program, {}, 2 * seed)
    if "c" in arrays:
        values = np.random.default_rng(seed).integers(-1, 3, arrays["c"].shape)
        arrays["c"] = values.astype(arrays["c"].dtype)
    schedule = None
    if drawn:
        text = random_schedule(program, device.machine, seed)
        schedule = parse_schedule(Source(f"random_{seed}.mdh", text))
    try:
        plan = planned(program, schedule, device.machine, device.target)
    except Failed:
        return None
    want = run_native(random.source, program, folder, {}, arrays)
    mine = {k: v.copy() for k, v in arrays.items()}
    made = emit(lower(plan), program)
    device.build(made).call(mine, {}).launch()
    if all(np.array_equal(mine[name], right) for name, right in want.items()):
        return None
    return random.source.text + made.source


@needs_compiler
@pytest.mark.parametrize("drawn", [False, True], ids=["default", "drawn"])
@pytest.mark.parametrize(
    ("spec", "option", "seeds"),
    [("c", "", range(5)), ("c", "-mno-avx512f", (*range(5, 11), 3088)), ("opencl:0", "", range(5))],
    ids=["native", "narrower", "opencl"],
)
def test_random_conditions_mean_what_the_c_compiler_says(
    spec: str, option: str, seeds: Sequence[int], drawn: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every form once at least, and a program that a compiler got wrong. `scripts/soundness` draws many more
    programs with conditions."""
    device = _opened(spec, option, monkeypatch)
    found = (_wrong(seed, device, tmp_path, drawn=drawn) for seed in seeds)
    assert next((texts for texts in found if texts), None) is None


def test_every_form_is_drawn() -> None:
    assert {random_conditional(seed).form for seed in range(60)} == set(FORMS)
