"""OpenCL devices. CPUs work in the caller's memory; GPUs get copies."""

import ctypes
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from math import prod
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np

from mdh.device.arguments import arguments_of, written_buffers
from mdh.device.ballast import Ballast
from mdh.device.opencl_calling import Enqueue, RefusedError, Sizes, launch, launch_within, loader
from mdh.device.opencl_door import cl
from mdh.device.opencl_errors import build_failed, launch_failed, load_failed, named, no_memory, unfit
from mdh.device.opencl_machine import COMPILER_ROOM, machine_of
from mdh.device.opencl_memory import BufferRegion, OpenclTwin
from mdh.device.opencl_platforms import POCL, PlatformDevice, found_devices
from mdh.device.pocl_cache import pocl_folder
from mdh.device.pocl_linker import demand_linker
from mdh.device.process import same_process
from mdh.device.protocols import POISON, BoundCall, ListedDevice, RunTimes, absent
from mdh.device.quiet import quiet_stderr
from mdh.folders import unserving
from mdh.machine import Machine
from mdh.memory_left import demand_room, no_room
from mdh.reference.numbers import Array
from mdh.target.text import EntryPoint, KernelText

_FLUSH = 4
"""The multiple of a GPU's last cache that is written to evict it."""
_COMPILER = "the compiler of the OpenCL runtime"
_NEXT = 32 << 20
"""Bytes that it may take for a further program: it keeps most of what the first one took."""
_PROBE = "kernel void mdh_probe_{}(global int *x) {{ x[0] = 1; }}"
_probes = count()
_MAKING = Lock()
"""pyopencl names the code that it generates for a kernel, and two threads could choose the same name."""


def open_number(number: int) -> "OpenCLDevice":
    devices = found_devices()
    if number >= len(devices):
        raise absent(f"opencl:{number}", list_family())
    return OpenCLDevice(f"opencl:{number}", devices[number])


def list_family() -> tuple[ListedDevice, ...]:
    return tuple(
        ListedDevice(f"opencl:{i}", f.title, "gpu" if f.gpu else "cpu", f"{f.platform} {f.version}")
        for i, f in enumerate(found_devices())
    )


class OpenCLDevice:
    """One device. Calls run on `main`, except those that need no other thread than the caller's."""

    target = "opencl"
    memory = "host"
    ships = False

    def __init__(self, spec: str, found: PlatformDevice, machine: Machine | None = None) -> None:
        self.spec, self.title, self.found = spec, found.title, found
        self.machine = machine or machine_of(found)
        self.main = _Seat(found.device, launch)
        self._cores = int(found.device.max_compute_units)
        self._caller: _Seat | None = None
        self.shares_memory = not found.gpu and bool(found.device.host_unified_memory)
        # PoCL's CPU devices work in the caller's memory itself. Handing it back by mapping, which the
        # standard asks for, would double the cost of a short call and move nothing.
        self.in_place = self.shares_memory and found.platform == POCL
        self._ballast = Ballast(self.machine.caches)
        self._compiled = False

    @property
    def versions(self) -> tuple[tuple[str, str], ...]:
        return ("pyopencl", str(cl.VERSION_TEXT)), ("driver", str(self.found.device.version))

    @property
    def identity(self) -> tuple[str, ...]:
        device = self.found.device
        # pyopencl adds options of the environment to the given ones
        added = os.environ.get("PYOPENCL_BUILD_OPTIONS", "")
        names = (device.name, device.version, device.driver_version, device.platform.version)
        # the seat, and so which machine code is kept, depends on these
        seats = f"{self._cores} cores{' and the caller' if self.found.caller is not None else ''}"
        return (*map(str, names), str(cl.VERSION_TEXT), added, seats)

    def ready(self) -> None:
        same_process("OpenCL")

    def seat(self, text: KernelText) -> "_Seat":
        """Where these kernels run. Launches of one work-group, and all launches on one core, gain nothing
        from threads, and waking them costs more than a small kernel."""
        several = self._cores > 1 and any(prod(e.launch.grid) > 1 for e in text.kernels)
        if several or self.found.caller is None or not self.in_place or loader() is None:
            return self.main
        if self._caller is None:
            self._caller = _Seat(self.found.caller, launch_within)
        return self._caller

    def build(self, text: KernelText) -> "OpenCLBuilt":
        self.ready()
        self._room_to_compile()
        self._able_to_link()
        start, seat = perf_counter(), self.seat(text)
        try:
            with quiet_stderr(), self._making(text):
                program = cl.Program(seat.context, text.source).build(options=list(text.options))
        except cl.Error as error:
            if named(error) is None:
                self._demand_compiling(seat)
            raise build_failed(text, self.title, error) from error
        except MemoryError as error:
            # PoCL still holds the program's lock, so releasing the program would block for ever
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(error))
            raise no_room(_COMPILER) from error
        except OSError as error:
            raise unserving(error) from error
        return OpenCLBuilt(self, seat, text, program, perf_counter() - start)

    def _making(self, text: KernelText) -> AbstractContextManager[None]:
        """Inside, a program is built."""
        if self.found.platform != POCL:
            return nullcontext()
        return pocl_folder().building(*self.identity, *text.options, text.source)

    def load(self, text: KernelText, image: bytes) -> "OpenCLBuilt":
        """Loads a binary that this device's runtime made of `text`. Raises Failed D105 if it is refused."""
        self.ready()
        self._able_to_link()
        start, seat = perf_counter(), self.seat(text)
        try:
            with quiet_stderr():
                made = cl.Program(seat.context, [seat.device], [image])
                program = made.build(options=list(text.options))
        except cl.Error as error:
            raise load_failed(self.title, text.name, error) from error
        return OpenCLBuilt(self, seat, text, program, perf_counter() - start)

    def _room_to_compile(self) -> None:
        """Raises Failed D104 if memory is short: compilers inside this process would end it, or hang."""
        if self.shares_memory:
            demand_room(_COMPILER, _NEXT if self._compiled else COMPILER_ROOM)
            self._compiled = True

    def _demand_compiling(self, seat: "_Seat") -> None:
        """Raises Failed D102 if the compiler fails on a trivial text. It is a new text each time, because
        runtimes keep what they have compiled."""
        try:
            with quiet_stderr():
                cl.Program(seat.context, _PROBE.format(f"{os.getpid()}_{next(_probes)}")).build()
        except (cl.Error, MemoryError) as error:
            raise unfit(self.title) from error

    def _able_to_link(self) -> None:
        """Checks the linker. Raises Failed D102, D114."""
        if self.found.wheel:
            try:
                demand_linker(pocl_folder().path)
            except OSError as error:
                raise unserving(error) from error

    def binary(self, built: "OpenCLBuilt") -> bytes:
        try:
            with quiet_stderr():
                return bytes(built.program.binaries[0])
        except cl.Error:
            # a runtime need not hand it out
            return b""

    def twin(self, memory: Array, array: Array) -> OpenclTwin | None:
        """Memory of a device with its own memory, for `memory`, which `array` is a part of."""
        self.ready()
        return None if self.shares_memory else OpenclTwin(self, memory, array)

    def flush(self) -> int:
        """Evicts the caches: of a CPU by writing from the host, of a GPU by filling a buffer."""
        self.ready()
        if self.shares_memory:
            return self._ballast.write()
        size = _FLUSH * self._ballast.last
        try:
            ballast = cl.Buffer(self.main.context, cl.mem_flags.READ_WRITE, size)
            cl.enqueue_fill_buffer(self.main.queue, ballast, np.uint8(0), 0, size).wait()
        except cl.Error as error:
            raise launch_failed(self.title, "eviction of the caches", error) from error
        ballast.release()
        return size


class _Seat:
    """A device of the runtime with a context and in-order queues. timed: the queue that takes times, which
    makes each launch slower. prepared: makes a launch of a kernel for a number of work-items in blocks. turn:
    if kernels run in the calling thread, held from the first command of a call to the end of its last. Two
    threads that enqueue on PoCL's `basic` device at once may deadlock, and its commands run one after another
    anyway."""

    def __init__(self, device: Any, prepared: Callable[[Any, Sizes, Sizes], Enqueue]) -> None:
        self.device, self.prepared = device, prepared
        self.turn = Lock() if prepared is launch_within else nullcontext()
        self.context = cl.Context([device])
        self.queue = cl.CommandQueue(self.context)
        profiling = cl.command_queue_properties.PROFILING_ENABLE
        self.timed = cl.CommandQueue(self.context, properties=profiling)


class OpenCLBuilt:
    """A built program and its kernel objects. These are made once, because pyopencl generates Python code for
    each.

    lock: held while arguments are set and the kernel is enqueued. bound: the number of the call whose
    arguments the kernels have.
    """

    def __init__(
        self, device: OpenCLDevice, seat: _Seat, text: KernelText, program: Any, seconds: float
    ) -> None:
        self.device, self.seat = device, seat
        self.text, self.program, self.seconds = text, program, seconds
        self.written = written_buffers(text)
        self.kernels = tuple(self._kernel(program, e) for e in text.kernels)
        self.lock = Lock()
        self.bound = 0
        self._calls = count(1)

    def number(self) -> int:
        """A new number for a call."""
        return next(self._calls)

    @cached_property
    def workspaces(self) -> dict[str, Any]:
        """Buffers of all calls. Raises Failed D104."""
        return {w.name: self._allocate(f"workspace `{w.name}`", w.bytes) for w in self.text.workspaces}

    def _allocate(self, what: str, size: int) -> Any:
        try:
            return cl.Buffer(self.seat.context, cl.mem_flags.READ_WRITE, max(size, 1))
        except cl.Error as error:
            raise no_memory(self.device.title, what, size, error) from error

    def call(self, arrays: Mapping[str, Array | BufferRegion], scalars: Mapping[str, Any]) -> "OpenCLCall":
        self.device.ready()
        return OpenCLCall(self, arrays, scalars)

    def _kernel(self, program: Any, entry: EntryPoint) -> Any:
        try:
            with _MAKING:
                return cl.Kernel(program, entry.name)
        except cl.Error as error:
            raise launch_failed(self.device.title, entry.name, error) from error


class OpenCLCall(BoundCall):
    """A call. Host arrays are used in place, or copied in and, if kernels write them, out; `Region`s of
    device memory are used in place."""

    def __init__(
        self, built: OpenCLBuilt, arrays: Mapping[str, Array | BufferRegion], scalars: Mapping[str, Any]
    ) -> None:
        self.device, self.seat, self.built = built.device, built.seat, built
        self.written, self.number = built.written, built.number()
        self.arrays = {n: a for n, a in arrays.items() if not isinstance(a, BufferRegion)}
        self.regions = {n: a for n, a in arrays.items() if isinstance(a, BufferRegion)}
        self.buffers = {n: self._buffer(n, a) for n, a in self.arrays.items()}
        self.buffers.update((n, region.buffer) for n, region in self.regions.items())
        self.buffers.update(built.workspaces)
        self.zeroed = [(self.buffers[w.name], w.bytes) for w in built.text.workspaces if w.zero]
        self.left = [(self.buffers[w.name], w.bytes) for w in built.text.workspaces if not w.zero]
        self.launches = self._launches(built.text, scalars)

    def _buffer(self, name: str, array: Array) -> Any:
        """The array itself if the device works in host memory, else a copy of it."""
        flags = cl.mem_flags
        access = flags.READ_WRITE if name in self.written else flags.READ_ONLY
        how = flags.USE_HOST_PTR if self.device.shares_memory else flags.COPY_HOST_PTR
        try:
            return cl.Buffer(self.seat.context, access | how, hostbuf=array)
        except cl.Error as error:
            raise no_memory(self.device.title, f"array `{name}`", array.nbytes, error) from error

    def _launches(self, text: KernelText, scalars: Mapping[str, Any]) -> list["_Launch"]:
        pairs = list(zip(self.built.kernels, text.kernels, strict=True))
        if text.counted:
            return [
                replace(self._prepared(*pairs[x.kernel], {**scalars, **x.at}), clear=x.clear)
                for x in text.launches
            ]
        plain = [self._prepared(*pair, scalars) for pair in pairs]
        if not text.loops:
            return plain
        return [replace(plain[x.kernel], clear=x.clear) for x in text.launches]

    def _prepared(self, kernel: Any, entry: EntryPoint, scalars: Mapping[str, Any]) -> "_Launch":
        values = tuple(arguments_of(entry, scalars, self.buffers.__getitem__, lambda value: value))
        at = entry.launch.at(scalars)
        block = at.block
        grid = tuple(g * b for g, b in zip(at.grid, block, strict=True))
        return _Launch(entry.name, kernel, values, self.seat.prepared(kernel, grid, block))

    def poison(self) -> None:
        with self.seat.turn:
            for buffer, size in self.left:
                cl.enqueue_fill_buffer(self.seat.queue, buffer, np.uint8(POISON), 0, size)
            self.seat.queue.finish()

    def launch(self) -> None:
        self._run(self.seat.queue, timed=False)
        if self.device.in_place:
            return
        for name in self.written:
            if name in self.arrays:
                self._fetch(name)

    def _run(self, queue: Any, *, timed: bool) -> list[Any]:
        self.device.ready()
        with self.seat.turn:
            return self._taken(queue, timed)

    def _taken(self, queue: Any, timed: bool) -> list[Any]:
        at = "workspaces"
        try:
            with self.built.lock:
                self._clear(queue)
                counted = self.built.text.counted
                if self.built.bound != self.number:
                    self.built.bound = 0
                    for one in self.launches[: 0 if counted else None]:
                        at = one.name
                        one.kernel.set_args(*one.values)
                    self.built.bound = 0 if counted else self.number
                events = []
                for one in self.launches:
                    at = one.name
                    if one.clear:
                        self._clear(queue)
                    if counted:
                        one.kernel.set_args(*one.values)
                    events.append(one.enqueue(queue, timed))
                if self.built.text.workspaces:
                    queue.finish()
            queue.finish()
        except (cl.Error, RefusedError) as error:
            raise launch_failed(self.device.title, at, error) from error
        return events

    def _clear(self, queue: Any) -> None:
        for buffer, size in self.zeroed:
            cl.enqueue_fill_buffer(queue, buffer, np.uint8(0), 0, size)

    def _fetch(self, name: str) -> None:
        """Copies what the kernels wrote to the host's array."""
        array = self.arrays[name]
        if not self.device.shares_memory:
            cl.enqueue_copy(self.seat.queue, array, self.buffers[name])
            return
        # the standard hands memory back to the host by mapping it, which moves nothing on a CPU
        flags = cl.map_flags.READ
        view, _ = cl.enqueue_map_buffer(
            self.seat.queue, self.buffers[name], flags, 0, array.shape, array.dtype
        )
        view.base.release(self.seat.queue)

    def sample(self) -> RunTimes:
        start = perf_counter()
        events = self._run(self.seat.timed, timed=True)
        wall = perf_counter() - start
        seconds = sum((e.profile.end - e.profile.start) for e in events) * 1e-9
        return RunTimes(seconds, wall)


@dataclass(frozen=True, slots=True)
class _Launch:
    """One kernel of a call with its arguments. clear: as in `Launched`."""

    name: str
    kernel: Any
    values: tuple[Any, ...]
    enqueue: Enqueue
    clear: bool = False
