"""The tuner: a schedule with holes in, the best schedule without them out, and a record of every trial.

    tuned = mdh.tune("matmul.c", "matmul.mdh", "cuda:0", budget="5m", defines={"M": 64, "N": 64, "K": 64})
    print(tuned.schedule)
    kernel = tuned.kernel()

The function is mdh.api.tune.tune, where its options are described. Like `mdh.check` it has the name of a
folder, which is therefore itself callable.
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
    return import_module("mdh.api.tune").tune


sys.modules[__name__].__class__ = _Callable
