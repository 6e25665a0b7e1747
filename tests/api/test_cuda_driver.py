"""Launching by the CUDA driver, as far as it can be seen without one."""

import ctypes
import gc
import weakref

import pytest

from mdh.device import cuda_driver
from mdh.device.cuda_driver import PackedLaunch


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
