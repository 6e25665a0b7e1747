"""Launching by the CUDA driver, as far as it can be seen without one."""

import ctypes
import gc
import weakref

from mdh.device.cuda_driver import Launch


class Loaded:
    """Stands for a module that would be unloaded with its last reference."""

    def function(self, name: str, dynamic_shared: int) -> ctypes.c_void_p:
        return ctypes.c_void_p(1)


def test_a_kernel_keeps_its_module_loaded() -> None:
    module = Loaded()
    alive = weakref.ref(module)
    launch = Launch(module, "k", (1, 1, 1), (1, 1, 1), 0, [])  # type: ignore[arg-type]
    del module
    gc.collect()
    assert alive() is not None
    del launch
    gc.collect()
    assert alive() is None
