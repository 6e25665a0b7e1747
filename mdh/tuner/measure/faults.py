"""Plants faults on purpose, to test that the bench survives and names them.

The only way in is the argument `--faults FILE` of the worker module, which `LocalBench.open(faults=…)` passes
on. No command, option, schedule or environment variable leads to it. The file is JSON: candidate key -> a
kind of KINDS, or a list of [old, new] replacements in the kernel's source, each of which must be found.
"""

import ctypes
import json
import re
import resource
import signal
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mdh.memory_left import held_bytes
from mdh.target.text import BufferArg, EntryPoint, KernelText

IN_KERNEL = ("illegal store", "misaligned", "trap", "endless loop", "shared memory", "launch shape")
IN_BUILDER = ("endless compile", "compiler crash", "host memory")
KINDS = (*IN_KERNEL, *IN_BUILDER)
_LITTLE = 64 << 20
"""Bytes that a builder may still take when its memory runs out on purpose."""


class Faults:
    """The plan of a file. Without a file nothing is planted."""

    def __init__(self, path: Path | None) -> None:
        self.plan: Mapping[str, Any] = {} if path is None else json.loads(path.read_text(encoding="utf-8"))

    def in_builder(self, key: str) -> None:
        """Behaves like a compiler that fails, hangs or uses up the memory."""
        match self.plan.get(key):
            case "endless compile":
                while True:
                    signal.pause()
            case "compiler crash":
                # a real fault: a signal that is only sent may be caught and survived
                ctypes.string_at(0)
            case "host memory":
                _eat_memory()
            case _:
                pass

    def in_text(self, key: str, text: KernelText) -> KernelText:
        """The text as a broken code generator would have printed it."""
        plan = self.plan.get(key)
        if isinstance(plan, list):
            return replace(text, source=_replaced(text.source, plan))
        if plan not in IN_KERNEL:
            return text
        first, *rest = text.kernels
        if plan == "shared memory" and text.language in DYNAMIC_SHARED:
            return replace(text, kernels=(replace(first, dynamic_shared=1 << 22), *rest))
        if plan == "launch shape":
            launch = replace(first.launch, block=(1 << 16, 1, 1))
            return replace(text, kernels=(replace(first, launch=launch), *rest))
        return replace(text, source=_planted(text, first, plan))


def _replaced(source: str, pairs: list[list[str]]) -> str:
    for old, new in pairs:
        assert old in source, f"nothing to replace: {old}"
        source = source.replace(old, new, 1)
    return source


DYNAMIC_SHARED = ("cuda",)
"""Languages whose launch states the shared memory of a block."""
STATEMENTS = {
    "cuda": {
        "illegal store": "*(volatile int *)64 = 1;",
        "misaligned": "*(volatile int *)(((char *){target}) + 1) = 1;",
        "trap": "__trap();",
        "endless loop": "while (clock64() != 0) {{ }}",
        "shared memory": "volatile char mdh_big[1 << 30]; mdh_big[7] = 1;",
    },
    "opencl": {
        "illegal store": "*(volatile __global int *)64 = 1;",
        "misaligned": "*(volatile __global int8 *)(((__global char *){target}) + 1) = 1;",
        "trap": "__builtin_trap();",
        "endless loop": "volatile int mdh_go = 1; while (mdh_go) {{ }}",
        "shared memory": "__local volatile char mdh_big[1 << 30]; mdh_big[7] = 1;",
    },
    "c": {
        "illegal store": "*(volatile int *)64 = 1;",
        "misaligned": "__builtin_trap();",  # C's compilers take any address
        "trap": "__builtin_trap();",
        "endless loop": "volatile int mdh_go = 1; while (mdh_go) {{ }}",
        "shared memory": "volatile char mdh_big[1 << 30]; mdh_big[7] = 1;",
    },
}
"""By language and kind of fault. target: an output."""


def _planted(text: KernelText, entry: EntryPoint, kind: str) -> str:
    """The fault as the first statements of the kernel's body."""
    target = next(a.name for a in reversed(entry.args) if isinstance(a, BufferArg) and not a.readonly)
    statement = STATEMENTS[text.language][kind].format(target=target)
    found = re.search(rf"\b{re.escape(entry.name)}\s*\([^)]*\)\s*\{{", text.source)
    assert found is not None
    return f"{text.source[: found.end()]}\n    {statement}\n{text.source[found.end() :]}"


def _eat_memory() -> None:
    """Takes memory up to the limit, which is set low so that the machine does not suffer."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (held_bytes() + _LITTLE, hard))
    eaten = []
    while True:
        eaten.append(bytearray(1 << 20))
