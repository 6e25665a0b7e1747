"""The checker: `mdh.check(file, schedule, machine)` is the plan of a legal schedule, and needs no device.

    plan = mdh.check("matmul.c", "matmul.mdh", "a100", defines={"M": 64, "N": 64, "K": 64})

file, schedule: paths or Sources; without a schedule the default one is derived. machine: a name, a path or a
Machine, by default what the schedule's header names. target: `cuda`, `opencl` or `c`, the machine's first by
default. defines, holes: values of sizes and macros, and of the schedule's named holes. function, strict_fp,
deterministic, hook: as for `mdh.compile`. Raises Failed with every diagnostic found, TypeError for an
option of a wrong Python type.

This folder and that function have one name, and importing a module of the folder binds `mdh.check` to it: so
the folder is itself callable. The function is mdh.api.compile.check.
"""

import inspect
import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *args: Any, **options: Any) -> Any:
        return _call()(*args, **options)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(_call())


def _call() -> Any:
    return import_module("mdh.api.compile").check


sys.modules[__name__].__class__ = _Callable
