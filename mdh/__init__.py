"""mdh: C loop nests and MDH schedules to CUDA and OpenCL.

    kernel = mdh.compile("matmul.c", "matmul.mdh", defines={"M": 64, "N": 64, "K": 64})
    kernel(a, b, c)
    plan = mdh.check("matmul.c", "matmul.mdh", "a100")
    for diagnostic in mdh.warnings(plan): ...
    tuned = mdh.tune("matmul.c", "matmul.mdh", "cuda:0", budget="5m")
    C = mdh.tc("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }").mm(A, B)
    C = mdh.einsum("bmk,bkn->bmn", A, B)
    layer = mdh.torch.op("mine::layer", "layer.c")

Names are loaded when they are first used: `import mdh` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from mdh import jax, torch
    from mdh.api.autotune import autotune
    from mdh.api.compile import check, compile
    from mdh.api.definitions import c, diesel, tc
    from mdh.api.einsums import einsum
    from mdh.api.kernel import Kernel
    from mdh.api.loading import load
    from mdh.api.opening import open
    from mdh.api.tune import tune
    from mdh.api.tune_over import tune_over
    from mdh.api.warned import warnings
    from mdh.diagnostics import Failed
    from mdh.source import Source

__all__ = [
    "Failed",
    "Kernel",
    "Source",
    "autotune",
    "c",
    "check",
    "compile",
    "diesel",
    "einsum",
    "jax",
    "load",
    "open",
    "tc",
    "torch",
    "tune",
    "tune_over",
    "warnings",
]
_HOMES = {
    "autotune": "mdh.api.autotune",
    "c": "mdh.api.definitions",
    "check": "mdh.api.compile",
    "compile": "mdh.api.compile",
    "diesel": "mdh.api.definitions",
    "einsum": "mdh.api.einsums",
    "load": "mdh.api.loading",
    "open": "mdh.api.opening",
    "tc": "mdh.api.definitions",
    "tune": "mdh.api.tune",
    "tune_over": "mdh.api.tune_over",
    "warnings": "mdh.api.warned",
    "Kernel": "mdh.api.kernel",
    "Failed": "mdh.diagnostics",
    "Source": "mdh.source",
}
_MODULES = ("jax", "torch")
"""Modules that import a framework of the same name."""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        try:
            return import_module(f"mdh.{name}")
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
            raise AttributeError(
                f"mdh.{name} needs {name}: pip install '.[{name}]' in mdh's folder"
            ) from error
    if name == "__version__":
        value = import_module("mdh.release").release()
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'mdh' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
