"""The checker; and, since `mdh.check` names this folder, the call `mdh.check(...)` of `mdh.api`."""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *args: Any, **options: Any) -> Any:
        return import_module("mdh.api.compile").check(*args, **options)


sys.modules[__name__].__class__ = _Callable
