"""Which device is meant where none is named."""

from pathlib import Path

import pytest

from mdh import default_device as module
from mdh.default_device import PAIR, default_device
from mdh.device.protocols import ListedDevice
from mdh.diagnostics import Failed, fail

CPUS = (ListedDevice("opencl:0", "a CPU", "cpu", "PoCL"), ListedDevice("c", "a CPU (C)", "cpu", "cc"))


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("MDH_DEVICE")
    monkeypatch.setattr(module, "list_devices", lambda: CPUS)


def test_the_faster_way_to_use_the_cpu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "_ratio", lambda devices: 1.5)
    assert default_device() == "c"
    assert "c is 1.50 times as fast as opencl:0" in capsys.readouterr().err
    # it is measured once
    monkeypatch.setattr(module, "_ratio", lambda devices: 0.5)
    assert default_device() == "c"
    assert capsys.readouterr().err == ""


def test_it_is_measured_anew_with_another_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ratio", lambda devices: 1.5)
    assert default_device() == "c"
    monkeypatch.setattr(module, "_ratio", lambda devices: 0.5)
    monkeypatch.setattr(
        module, "list_devices", lambda: (CPUS[0], ListedDevice("c", "a CPU (C)", "cpu", "cc 2"))
    )
    assert default_device() == "opencl:0"


def test_a_device_that_fails_is_not_chosen_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(devices: object) -> float:
        raise fail("D103", "no room")

    monkeypatch.setattr(module, "_ratio", fails)
    assert default_device() == "opencl:0"
    monkeypatch.setattr(module, "_ratio", lambda devices: 1.5)
    assert default_device() == "c"


@pytest.mark.parametrize("there", [0, 1])
def test_the_only_one(there: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "list_devices", lambda: (CPUS[there],))
    assert default_device() == CPUS[there].spec


def test_a_gpu_and_the_variable_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = ListedDevice("cuda:0", "a GPU", "gpu", "CUDA")
    monkeypatch.setattr(module, "list_devices", lambda: (*CPUS, gpu))
    assert default_device() == "cuda:0"
    monkeypatch.setenv("MDH_DEVICE", "c")
    assert default_device() == "c"
    monkeypatch.setenv("MDH_DEVICE", "gpu")
    with pytest.raises(Failed) as raised:
        default_device()
    assert raised.value.diagnostics[0].code == "D110"


def test_both_are_really_measured() -> None:
    assert default_device() in PAIR
