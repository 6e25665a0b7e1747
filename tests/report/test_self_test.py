"""The self-test of compilers and runtimes, and what is remembered of it."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mdh.device.api import open_device
from mdh.device.cache import open_cache
from mdh.device.faults import fault_key, faults_of, remember, remembered
from mdh.device.protocols import Device
from mdh.device.self_test import Passed, halves_right, masked_right, self_test, wrong_functions
from mdh.device.self_test_child import examined
from mdh.diagnostics import Failed
from mdh.report.health import verdict
from mdh.target.faults import ASSUMED, NONE, POCL, CompilerFaults, Fault
from mdh.target.text import KernelText


@pytest.fixture(params=["opencl:0", "c"])
def device(request: pytest.FixtureRequest) -> Device:
    try:
        return open_device(request.param)
    except Failed as failed:
        pytest.skip(failed.diagnostics[0].headline)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_what_is_known_without_a_test_is_what_the_test_finds(device: Device) -> None:
    found = self_test(device)
    assert not found.functions
    assert found.faults.lanes <= ASSUMED[device.target].lanes
    assert found.faults.kinds <= {Fault.MASKED_READS}


class _Spoiled:
    """A device whose kernels leave something else than they should."""

    target = "opencl"

    def __init__(self, wrong: Any) -> None:
        self.wrong = wrong

    def build(self, text: KernelText) -> "_Spoiled":
        return self

    def call(self, arrays: dict[str, np.ndarray], scalars: dict[str, Any]) -> "_Spoiled":
        self.arrays = arrays
        return self

    def launch(self) -> None:
        self.wrong(self.arrays)


def test_wrong_results_are_found() -> None:
    device: Any = _Spoiled(lambda arrays: arrays["y"].fill(1))
    assert "sin" in tuple(wrong_functions(device, "f32", 8))
    assert not halves_right(device, "f16")
    assert not masked_right(_Spoiled(lambda arrays: None))  # type: ignore[arg-type]


def test_results_are_remembered(device: Device, cache: Path) -> None:
    assert remembered(device) is None
    assert faults_of(device) == ASSUMED[device.target]
    assert remember(device, NONE)
    assert remembered(device) == NONE
    # texts in C may be built elsewhere
    assert faults_of(device) == (ASSUMED["c"] if device.target == "c" else NONE)
    worse = CompilerFaults(frozenset({Fault.MASKED_READS}), frozenset({"exp_f64x4"}))
    assert remember(device, worse)
    assert faults_of(device) == worse


def test_what_is_damaged_is_not_believed(device: Device, cache: Path) -> None:
    for payload in (b"", b"[]", b'{"kinds": ["new"], "lanes": []}', b'{"kinds": 3}'):
        assert open_cache().put(fault_key(device), payload)
        assert remembered(device) is None


def test_nothing_is_kept_where_there_is_no_room(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert not remember(device, NONE)
    assert faults_of(device) == ASSUMED[device.target]


def test_the_process_tells_what_it_found() -> None:
    found = examined("opencl:0")
    assert found.faults.lanes <= POCL.lanes
    with pytest.raises(Failed, match="there is no device"):
        examined("opencl:77")


def test_a_process_that_dies_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert examined("opencl:0").faults.kinds == {Fault.CRASH}


def test_words() -> None:
    fine = verdict("self-test c", Passed(NONE))
    assert (fine.state, fine.detail) == ("ok", "functions, conditions, 16-bit floats and barriers are right")
    around = verdict("self-test opencl:0", Passed(replace(POCL, kinds=frozenset({Fault.MASKED_READS}))))
    assert around.state == "ok"
    assert around.detail == (
        "wrong, and avoided by mdh's texts: reads under conditions, vectors of cos, sin, tan (f32 by 2, 4, 8)"
    )
    broken = verdict("self-test c", Passed(CompilerFaults(frozenset({Fault.FUNCTIONS})), ("exp of f32",)))
    assert (broken.state, broken.detail) == ("broken", "functions are wrong for single numbers (exp of f32)")
    assert "another" in broken.fix
