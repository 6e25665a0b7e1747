"""`mdh.autotune`: `mdh.compile` with a tuner."""

from typing import Any

from mdh.api.compile import compile
from mdh.api.kernel import Kernel
from mdh.api.texts import Text
from mdh.device.protocols import Device


def autotune(
    file: Text,
    schedule: Text | None = None,
    device: str | Device | None = None,
    *,
    budget: float | str = "10s",
    **options: Any,
) -> Kernel:
    """`mdh.compile` with `tune=budget`; `options` are its other ones."""
    return compile(file, schedule, device, tune=budget, **options)
