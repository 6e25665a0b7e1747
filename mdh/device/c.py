"""The CPU as a device for C: the system's C compiler compiles kernels, which are loaded and called in this
process.

OpenMP's threads share the groups of a kernel. After a call they stay awake for a while, so that the next call
costs microseconds, where an OpenCL runtime wakes sleeping threads. They do not stay awake longer, because a
spinning thread takes a core from others that have work.
"""

import ctypes
import os
from _ctypes import dlclose
from collections.abc import Mapping, Sequence
from contextlib import suppress
from ctypes import c_void_p
from functools import cached_property
from itertools import count
from threading import Lock
from time import perf_counter
from typing import Any
from weakref import finalize

import numpy as np

from mdh.device.arguments import arguments_of, ctypes_value
from mdh.device.ballast import Ballast
from mdh.device.c_compiler import Compiler, compiled, find_compiler
from mdh.device.c_threads import SETTLE, Threads, settle_of
from mdh.device.cpu import cpu_machine, cpu_title
from mdh.device.process import lost, same_process
from mdh.device.protocols import POISON, BoundCall, ListedDevice
from mdh.diagnostics import Diagnostic, Failed, fail
from mdh.folders import private_folder, unserving
from mdh.machine import Machine
from mdh.memory_left import demand_room, no_room
from mdh.reference.numbers import Array
from mdh.target.text import BufferArg, EntryPoint, KernelText, Launched
from mdh.target.turns import whole_of
from mdh.textfile import reason

FILE = "kernels.so"
"""The end of the name of each library's file."""
_RUNTIMES = ("libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so")
"""OpenMP's libraries, whose threads live on after the library that loaded them is unloaded."""
_STAY = os.RTLD_NOW | os.RTLD_NOLOAD | os.RTLD_NODELETE
_numbers = count()


def loaded(image: bytes, *, calls: bool = False) -> ctypes.CDLL:
    """Loads a library. It stays loaded while this object or a function of it is held. calls: it calls
    another one, whose functions it must find there and not in whatever else this process has loaded. Raises
    OSError, without a number if the loader refuses it."""
    # the loader takes a library for a loaded one of the same name, so each gets its own
    path = private_folder() / f"{next(_numbers)}-{FILE}"
    try:
        path.write_bytes(image)
        mode = getattr(os, "RTLD_DEEPBIND", 0) if calls else 0
        library = ctypes.CDLL(str(path), mode=ctypes.DEFAULT_MODE | mode)
    finally:
        # the file may be removed once it is loaded
        path.unlink(missing_ok=True)
    for name in _RUNTIMES:
        # finds the runtime only if this library has loaded one
        with suppress(OSError):
            ctypes.CDLL(name, mode=_STAY)
    # not at the end of the process, when threads may still be at work
    finalize(library, dlclose, library._handle).atexit = False
    return library


_LINE = 64
_WAITING = {"GOMP_SPINCOUNT": "100000"}
"""For GCC's OpenMP library, which reads it when it is loaded: iterations of a waiting thread, about 1.5 ms.
This must be longer than a virtual processor takes to wake, 0.1 to 1 ms. Otherwise two threads that wait for
each other fall asleep in every call: with 10,000, half of all series of calls took ten times as long. The
library's own default, 300,000, keeps other processes from the processors for longer."""


def open_number(number: int) -> "CDevice":
    """The device of this number. Raises Failed D101, D113."""
    if number:
        raise fail("D101", f"there is no device `c:{number}`", help="the CPU by C is `c`")
    return CDevice(find_compiler())


def list_family() -> tuple[ListedDevice, ...]:
    found = find_compiler()
    return (ListedDevice("c", f"{cpu_title()} (C)", "cpu", found.version),)


_UNMAPPED = ("failed to map segment", "Operation not permitted", "Too many open files")
"""The loader's words where this place does not allow executing or opening files. The library may be right."""


class CDevice:
    """The processors that this process may use, as one device."""

    spec, target, memory, in_place = "c", "c", "host", True
    ships = True

    def __init__(self, compiler: Compiler) -> None:
        self.compiler = compiler
        self.title = f"{cpu_title()} (C)"
        self.machine: Machine = cpu_machine(self.title, vector_bytes=compiler.vector_bytes, targets=("c",))
        self.threads = Threads()
        self._ballast = Ballast(self.machine.caches)

    @property
    def versions(self) -> tuple[tuple[str, str], ...]:
        return (("compiler", self.compiler.version),)

    @property
    def identity(self) -> tuple[str, ...]:
        # all options, CC's own among them
        compiler = self.compiler
        return compiler.version, compiler.macros, *compiler.command, *compiler.options, SETTLE

    def ready(self) -> None:
        same_process("OpenMP")

    def build(self, text: KernelText) -> "CBuilt":
        self.ready()
        start = perf_counter()
        image = compiled(text, self.compiler)
        return self._loaded(text, image, start)

    def load(self, text: KernelText, image: bytes) -> "CBuilt":
        self.ready()
        return self._loaded(text, image, perf_counter())

    def binary(self, built: "CBuilt") -> bytes:
        return built.image

    def _loaded(self, text: KernelText, image: bytes, start: float) -> "CBuilt":
        if "OMP_WAIT_POLICY" not in os.environ:
            for name, value in _WAITING.items():
                os.environ.setdefault(name, value)
        try:
            library = loaded(image, calls=bool(text.libraries))
            return CBuilt(self, text, image, library, perf_counter() - start)
        except (OSError, AttributeError) as error:
            unmapped = any(words in str(error) for words in _UNMAPPED)
            if isinstance(error, OSError) and (error.errno or unmapped):
                raise unserving(reason(error).rpartition(f"{FILE}: ")[2]) from error
            headline = f"the machine code of `{text.name}` cannot be loaded: {error}"
            witness = (("verb", "load"), ("status", type(error).__name__))
            raise Failed(Diagnostic("D105", headline[:300], witness=witness)) from error

    def flush(self) -> int:
        self.ready()
        return self._ballast.write()


class CBuilt:
    """A loaded library and its functions, one for each kernel. They release Python's lock while they run.

    order: of the launches. places: of each kernel, those of the arrays among its arguments."""

    def __init__(
        self, device: CDevice, text: KernelText, image: bytes, library: ctypes.CDLL, seconds: float
    ) -> None:
        self.device, self.text, self.image, self.seconds = device, text, image, seconds
        whole = whole_of(text)
        self.entries = text.kernels if whole is None else (whole,)
        self.functions = tuple(library[e.name] for e in self.entries)
        for function in self.functions:
            function.restype = None
        self.settle = settle_of(library)
        self.lock = Lock()
        self.order = text.launches if whole is None else (Launched(0, {}, False),)
        spaces = {w.name for w in text.workspaces}
        self.places = tuple(
            [(n, a.name) for n, a in enumerate(e.args) if isinstance(a, BufferArg) and a.name not in spaces]
            for e in self.entries
        )

    @cached_property
    def workspaces(self) -> dict[str, Array]:
        """Of all calls, which take turns. Raises Failed D104."""
        return {w.name: _aligned(w.name, w.bytes) for w in self.text.workspaces}

    def call(self, arrays: Mapping[str, Array], scalars: Mapping[str, Any]) -> "CCall":
        self.device.ready()
        held = {**arrays, **self.workspaces}
        bound = [self._arguments(self.entries[x.kernel], held, {**scalars, **x.at}) for x in self.order]
        launches = [(x.clear, self.functions[x.kernel], a) for x, a in zip(self.order, bound, strict=True)]
        return CCall(self, launches, held)

    def _arguments(
        self, entry: EntryPoint, held: Mapping[str, Array], scalars: Mapping[str, Any]
    ) -> list[Any]:
        return arguments_of(entry, scalars, lambda name: c_void_p(held[name].ctypes.data), ctypes_value)


Launch = tuple[bool, Any, list[Any]]
"""Whether workspaces are cleared in front of it, a function, its arguments."""


class CCall(BoundCall):
    """Functions with their arguments. held: arrays and workspaces that stay alive as long as the call."""

    def __init__(self, built: CBuilt, launches: Sequence[Launch], held: Mapping[str, Array]) -> None:
        self.built, self.launches, self.held = built, launches, held
        self.settle, self.shares = built.settle, bool(built.text.workspaces)

    def moved(self, addresses: Mapping[str, int]) -> "CCall":
        out: list[Launch] = []
        for launched, (clear, function, arguments) in zip(self.built.order, self.launches, strict=True):
            own = arguments.copy()
            for place, name in self.built.places[launched.kernel]:
                own[place] = c_void_p(addresses[name])
            out.append((clear, function, own))
        return CCall(self.built, out, self.built.workspaces)

    def poison(self) -> None:
        for w in self.built.text.workspaces:
            if not w.zero:
                self.built.workspaces[w.name].fill(POISON)

    def launch(self) -> None:
        if lost:
            self.built.device.ready()
        if self.shares:
            with self.built.lock:
                self._clear()
                self._run()
        else:
            self._run()

    def _run(self) -> None:
        settle = self.settle
        if settle is not None:
            self.built.device.threads.settled(settle)
        for clear, function, arguments in self.launches:
            if clear:
                self._clear()
            function(*arguments)
        if settle is not None:
            self.built.device.threads.used()

    def _clear(self) -> None:
        for w in self.built.text.workspaces:
            if w.zero:
                self.built.workspaces[w.name].fill(0)


def _aligned(name: str, size: int) -> Array:
    """Zero bytes that begin at a cache line. Raises Failed D104."""
    demand_room(f"workspace `{name}`", size)
    try:
        memory = np.empty(size + _LINE, np.uint8)
    except MemoryError as error:
        raise no_room(f"workspace `{name}`", size) from error
    skip = -memory.ctypes.data % _LINE
    return memory[skip : skip + size]
