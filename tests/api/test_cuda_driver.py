"""Launching by the CUDA driver, as far as it can be seen without one."""

import ctypes
import gc
import weakref
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mdh
from mdh.device import cuda_driver
from mdh.device.arrays import packed_view
from mdh.device.cuda_driver import PackedLaunch
from mdh.lower.run import lower
from mdh.target.emit import emit


class Loaded:
    """Stands for a module that would be unloaded with its last reference."""

    def function(self, name: str, dynamic_shared: int) -> ctypes.c_void_p:
        return ctypes.c_void_p(1)


def test_a_kernel_keeps_its_module_loaded() -> None:
    module = Loaded()
    alive = weakref.ref(module)
    launch = PackedLaunch(module, "k", (1, 1, 1, 1, 1, 1, 0), [], early=False)  # type: ignore[arg-type]
    del module
    gc.collect()
    assert alive() is not None
    del launch
    gc.collect()
    assert alive() is None


def test_structures_lie_as_in_the_header() -> None:
    """cuda.h on 64 bits: offsets of id and value, and of what else is set by name."""
    attribute, config = cuda_driver._Attribute, cuda_driver._Config
    assert (ctypes.sizeof(attribute), ctypes.sizeof(config)) == (72, 56)
    assert (attribute.id.offset, attribute.value.offset) == (0, 8)
    names = ("shared", "stream", "attributes", "count")
    assert [getattr(config, name).offset for name in names] == [24, 32, 40, 48]


@pytest.mark.parametrize(
    ("asked", "version", "attributes"), [(True, 12030, 1), (True, 12020, 0), (False, 13000, 0)]
)
def test_early_where_graphs_hold_it(
    asked: bool, version: int, attributes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each stream has a configuration of its own."""
    monkeypatch.setattr(cuda_driver, "_version", lambda: version)
    given = []

    class Driver:
        def cuLaunchKernelEx(self, config: ctypes._Pointer, *rest: object) -> int:  # noqa: N802 - its name
            c = config._obj  # type: ignore[attr-defined]
            given.append((c.grid_x, c.block_z, c.shared, c.stream, c.count, c.attributes.contents.id))
            return 0

    monkeypatch.setattr(cuda_driver, "driver", Driver)
    launch = PackedLaunch(Loaded(), "k", (7, 1, 1, 32, 1, 2, 64), [], early=asked)  # type: ignore[arg-type]
    for stream in (8, 9, 8):
        launch.enqueue(stream)
    assert given == [(7, 2, 64, stream, attributes, 6) for stream in (8, 9, 8)]


class _Launches:
    """Stands for the driver: the stream and the first two arguments, pointers, of each launch."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, list[int]]] = []

    def cuLaunchKernelEx(self, config: Any, function: object, arguments: Any, extra: None) -> int:  # noqa: N802
        pointers = [ctypes.c_uint64.from_address(arguments[n]).value for n in range(2)]
        self.seen.append((config._obj.stream or 0, pointers))
        return 0


def test_calls_on_other_memory_share_what_does_not_depend_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """New addresses are those of the launch, and the call that they come from keeps its own."""
    cuda = pytest.importorskip("mdh.device.cuda")
    if cuda.cupy is None:
        pytest.skip("cupy is not installed")
    driver, context = _Launches(), 7
    monkeypatch.setattr(cuda_driver, "driver", lambda: driver)
    monkeypatch.setattr(cuda_driver, "_version", lambda: 13000)
    monkeypatch.setattr(cuda, "_context", lambda: context)
    text = "void twice(const float a[64], float b[64]) { for (int i = 0; i < 64; i++) b[i] = 2 * a[i]; }"
    plan = mdh.check(mdh.Source("twice.c", text), machine="h100", target="cuda")
    kernel_text = emit(lower(plan), plan.program)
    device = SimpleNamespace(ready=lambda: None, handle=nullcontext(), number=0)
    built = cuda.CudaBuilt(device, kernel_text, Loaded(), 0.0)
    views = {n: packed_view(at, (64,), np.dtype("f4"), "cuda:0") for n, at in (("a", 1024), ("b", 4096))}
    call = built.call(views, {})
    other = call.moved({"a": 8192, "b": 1024})
    for one, stream in ((call, 0), (other, 0), (other, 5), (call, 0)):
        one.launch_on((stream,))
    mine, new = [1024, 4096], [8192, 1024]
    assert driver.seen == [(0, mine), (0, new), (5, new), (0, mine)]
