"""The width of vectors on PoCL, whose compiler may take the processor for an older model."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mdh.device import opencl_machine
from mdh.device.opencl_platforms import POCL, PlatformDevice


class _Error(Exception):
    pass


@pytest.mark.parametrize(
    ("log", "width", "asked"),
    [
        (None, 64, 1), ('error: "vectors of 32 bytes"', 32, 1),
        # a compiler that has no room says nothing about vectors
        ("out of memory", 32, 2),
    ],
)  # fmt: skip
def test_the_compiler_is_asked_once(
    log: str | None, width: int, asked: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds = 0

    def build() -> None:
        nonlocal builds
        builds += 1
        if log is not None:
            raise _Error(log)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    stand_in = SimpleNamespace(
        Error=_Error, Context=list, Program=lambda context, source: SimpleNamespace(build=build)
    )
    monkeypatch.setattr(opencl_machine, "cl", stand_in)
    for _ in range(2):
        assert opencl_machine.machine_of(_device(8)).vector_bytes == width
    assert builds == asked
    assert opencl_machine.machine_of(_device(4)).vector_bytes == 32
    assert opencl_machine.machine_of(_device(8, "Another")).vector_bytes == 64
    assert builds == asked


def _device(doubles: int, platform: str = POCL) -> PlatformDevice:
    device: Any = SimpleNamespace(
        name="pthread-a CPU", version="OpenCL 3.0 PoCL HSTR: pthread-x86_64-unknown-linux-gnu-rocketlake",
        driver_version="3.0", native_vector_width_double=doubles, max_compute_units=2,
        max_clock_frequency=3000, global_mem_size=1 << 30,
    )  # fmt: skip
    return PlatformDevice(device, platform, "3.0", gpu=False)
