"""A worker whose builder plants faults, to test that the bench survives and names them: inside `planting`, a
bench starts this module in place of mdh's own worker.

The plan is a JSON file: candidate key -> a kind of KINDS, or a list of [old, new] replacements in the
kernel's source, each of which must be found.
"""

import ctypes
import json
import os
import re
import resource
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from mdh.diagnostics import Diagnostic
from mdh.memory_left import held_bytes
from mdh.target.text import BufferArg, EntryPoint, KernelText
from mdh.tuner.measure import process, worker
from mdh.tuner.measure.wire import Json

IN_KERNEL = ("illegal store", "misaligned", "trap", "endless loop", "shared memory", "launch shape")
IN_BUILDER = ("endless compile", "compiler crash", "host memory")
KINDS = (*IN_KERNEL, *IN_BUILDER)
_PLAN = "MDH_TESTS_FAULTS"
"""The environment variable of a worker that names the file."""
_LITTLE = 64 << 20
"""Bytes that a builder may still take when its memory runs out on purpose."""


@contextmanager
def planting(path: Path | None) -> Iterator[None]:
    """Inside, benches plant the faults of a file; None: no faults."""
    if path is None:
        yield
        return
    usual = process.WORKER
    process.WORKER, os.environ[_PLAN] = __name__, str(path)
    try:
        yield
    finally:
        process.WORKER = usual
        del os.environ[_PLAN]


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


class FaultyBuilder:
    """A builder of mdh's own. The fault of a candidate is planted where its text is made."""

    def __init__(self, builder: Any) -> None:
        self._builder, self._text = builder, builder._text
        self._faults, self._key = Faults(Path(os.environ[_PLAN])), ""
        builder._text = self._planted

    def answer(self, request: Json) -> Json:
        self._key = request.get("key", "")
        answer: Json = self._builder.answer(request)
        return answer

    def poisoned(self, found: Diagnostic) -> bool:
        return bool(self._builder.poisoned(found))

    def _planted(self, schedule: str) -> KernelText:
        self._faults.in_builder(self._key)
        return self._faults.in_text(self._key, self._text(schedule))


def main() -> int:
    usual = worker._builder
    worker._builder = lambda *words: FaultyBuilder(usual(*words))
    return worker.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
