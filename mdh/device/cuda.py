"""NVIDIA GPUs: cubins by NVRTC, memory and streams by cupy, launches by the driver API."""

import ctypes
from collections.abc import Mapping, Sequence
from copy import copy
from importlib import import_module
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np

from mdh.device.arguments import written_buffers
from mdh.device.arrays import StridedView
from mdh.device.ballast import evicting_bytes
from mdh.device.cuda_bound import ALIGNED, Place, bound_launch, lay_out, place_of, stream_of
from mdh.device.cuda_busy import keep_busy
from mdh.device.cuda_cache import keep_cupy_safe, keep_driver_safe
from mdh.device.cuda_driver import (
    OUT_OF_MEMORY,
    DriverError,
    LoadedCubin,
    PackedLaunch,
    allocating,
    driver_version,
)
from mdh.device.cuda_graph import LaunchError, Launches
from mdh.device.cuda_machine import arch_of, machine_of, title_of
from mdh.device.process import lost, same_process
from mdh.device.protocols import POISON, ListedDevice, RunTimes, absent
from mdh.diagnostics import Diagnostic, Failed, fail
from mdh.machine import Machine
from mdh.target.nvrtc import compile_cubin, nvrtc_version
from mdh.target.text import KernelText
from mdh.textfile import reason


class CudaTwin:
    """Device memory of the size of `memory`, a flat array of bytes that `array` is a part of."""

    def __init__(
        self, memory: np.ndarray[Any, Any], array: np.ndarray[Any, Any], held: Any, handle: Any
    ) -> None:
        self.memory, self.array, self.held, self.handle = memory, array, held, handle

    def send(self) -> None:
        """Host to device."""
        with self.handle:
            self.held.copy_from_host(ctypes.c_void_p(self.memory.ctypes.data), self.memory.nbytes)

    def fetch(self) -> None:
        """Copies from device to host, after all earlier kernels."""
        with self.handle:
            self.held.copy_to_host(ctypes.c_void_p(self.memory.ctypes.data), self.memory.nbytes)

    @property
    def argument(self) -> StridedView:
        """The array's counterpart in device memory."""
        array = self.array
        offset = array.ctypes.data - self.memory.ctypes.data
        pointer, place = self.held.ptr + offset, f"cuda:{self.handle.id}"
        return StridedView(pointer, array.shape, array.dtype, array.strides, False, place, self.held)


_MORE = "use smaller arrays, a device with more memory, or end what else has taken this one's: nvidia-smi"
_BUSY, _BUSY_EACH = 40e-6, 10e-6
"""Seconds that the device is kept busy while the host enqueues a timed call, and more for each kernel."""


def _load() -> tuple[Any, str]:
    """The library, or None and why it cannot be used."""
    keep_cupy_safe()
    keep_driver_safe()
    try:
        return import_module("cupy"), ""
    except ImportError:
        return None, "cupy is not installed"
    except OSError as error:
        # cupy creates its folder when it is imported
        return None, f"cupy has no place for its files: {reason(error)}"


cupy: Any
cupy, _WHY = _load()


def _count() -> int:
    """The number of GPUs. Raises Failed D106 if CUDA cannot be used, D107 after a fork."""
    if cupy is None:
        hint = "pip install '.[cuda]' in mdh's folder; CUPY_CACHE_DIR names a folder for its files"
        raise fail("D106", f"CUDA cannot be used here: {_WHY}", help=hint)
    same_process("CUDA")
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError as error:
        why = str(error).partition(": ")[2] or str(error)
        headline = f"CUDA cannot be used here: {why}"
        raise fail(
            "D106", headline, help="an NVIDIA GPU and its driver are needed; opencl:0 is the CPU"
        ) from error


def open_number(number: int) -> "CudaDevice":
    if number >= _count():
        raise absent(f"cuda:{number}", list_family())
    return CudaDevice(number)


def list_family() -> tuple[ListedDevice, ...]:
    out = []
    for i in range(_count()):
        properties = cupy.cuda.runtime.getDeviceProperties(i)
        out.append(ListedDevice(f"cuda:{i}", title_of(properties), "gpu", f"CUDA {arch_of(properties)}"))
    return tuple(out)


def _context() -> int:
    """The current one of the calling thread; 0 where it has none."""
    context: int = cupy.cuda.driver.ctxGetCurrent()
    return context


class CudaDevice:
    target = "cuda"
    memory = "cuda"
    in_place = True

    def __init__(self, number: int) -> None:
        properties = cupy.cuda.runtime.getDeviceProperties(number)
        self.spec, self.title, self.number = f"cuda:{number}", title_of(properties), number
        self.machine: Machine = machine_of(properties)
        self.arch = arch_of(properties)
        self.handle = cupy.cuda.Device(number)
        self.bus = str(self.handle.pci_bus_id)
        self._flushed = 0

    @property
    def versions(self) -> tuple[tuple[str, str], ...]:
        return ("cupy", str(cupy.__version__)), ("driver", driver_version()), ("nvrtc", nvrtc_version())

    def ready(self) -> None:
        same_process("CUDA")

    def build(self, text: KernelText) -> "CudaBuilt":
        self.ready()
        start = perf_counter()
        cubin = compile_cubin(text, self.arch)
        built = self.load(text, cubin.image)
        built.seconds = perf_counter() - start
        return built

    def load(self, text: KernelText, image: bytes) -> "CudaBuilt":
        """Loads a cubin that was compiled from `text` elsewhere. Raises Failed D104, D105."""
        self.ready()
        start = perf_counter()
        try:
            with self.handle:
                # the runtime makes the context current that the driver then loads into; it takes memory too
                cupy.cuda.runtime.free(0)
                module = LoadedCubin(image)
        except (DriverError, cupy.cuda.runtime.CUDARuntimeError) as error:
            raise self.failed("load", text.name, error) from error
        return CudaBuilt(self, text, module, perf_counter() - start)

    def twin(self, memory: np.ndarray[Any, Any], array: np.ndarray[Any, Any]) -> CudaTwin:
        """Device memory of the size of `memory`, which `array` is a part of."""
        self.ready()
        before = array.ctypes.data - memory.ctypes.data
        with self.handle:
            held = self.allocate("arrays and their guard bands", memory.nbytes + ALIGNED)
            # kernels read whole sectors, so the array itself is aligned, not the guard band before it
            return CudaTwin(memory, array, held + -(held.ptr + before) % ALIGNED, self.handle)

    def flush(self) -> int:
        self.ready()
        try:
            with self.handle:
                # once: later the pool keeps what was taken for it
                self._flushed = self._flushed or self._evicting()
                ballast = self.allocate("what evicts its caches", self._flushed)
                ballast.memset_async(0, self._flushed, cupy.cuda.get_current_stream())
                cupy.cuda.get_current_stream().synchronize()
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise self.failed("clear", "what evicts its caches", error) from error
        return self._flushed

    def _evicting(self) -> int:
        """Bytes to write for evicting the caches. Raises Failed D104 if other processes have left too few."""
        last = max(self.machine.caches)
        free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
        size = evicting_bytes(last, free)
        if size:
            return size
        headline = f"{self.title} has no room to evict its caches: {last:,} bytes, a quarter of what is free"
        raise fail("D104", headline, help=_MORE)

    def allocate(self, what: str, size: int) -> Any:
        try:
            return cupy.cuda.alloc(max(size, 1))
        except cupy.cuda.memory.OutOfMemoryError as error:
            headline = f"{self.title} has no room for {what} ({size:,} bytes)"
            raise fail("D104", headline, help=_MORE) from error

    def failed(self, verb: str, what: str, error: Exception) -> Failed:
        name = error.name if isinstance(error, DriverError) else str(error)
        # the runtime uses the driver's number
        if getattr(error, "status", None) == OUT_OF_MEMORY:
            return fail("D104", f"{self.title} has no room for `{what}`: {name}", help=_MORE)
        headline = f"{self.title} could not {verb} `{what}`: {name}"
        hint = "after an illegal access the process must end before the GPU can be used again"
        witness = (("verb", verb), ("status", name))
        return Failed(
            Diagnostic("D105", headline, help=hint if "ILLEGAL" in name.upper() else "", witness=witness)
        )


class CudaBuilt:
    """A loaded cubin, and a workspace for each stream that its kernels have run on: calls on one stream take
    turns, and so share it. lock: held while a call that uses one is enqueued."""

    def __init__(self, device: CudaDevice, text: KernelText, module: LoadedCubin, seconds: float) -> None:
        self.device, self.text, self.module, self.seconds = device, text, module, seconds
        self.spaces, self.written = lay_out(text.workspaces), written_buffers(text)
        self.lock = Lock()
        self._memory: dict[Place, Any] = {}

    def call(self, arrays: Mapping[str, Any], scalars: Mapping[str, Any]) -> "CudaCall":
        self.device.ready()
        with self.device.handle:
            return CudaCall(self, arrays, scalars)

    def workspace(self, stream: int) -> int:
        """Its address; the caller has made the stream current. Raises Failed D104."""
        if not self.spaces.bytes:
            return 0
        with self.lock:
            place = place_of(stream)
            if place not in self._memory:
                with allocating():
                    self._memory[place] = self.device.allocate("workspaces", self.spaces.bytes)
            return int(self._memory[place].ptr)


class CudaCall:
    """A call. Host arrays are copied in and, if kernels write them, out; `View`s of device memory are used in
    place. Work goes to the caller's current stream."""

    def __init__(self, built: CudaBuilt, arrays: Mapping[str, Any], scalars: Mapping[str, Any]) -> None:
        self.device, self.built, self.scalars = built.device, built, scalars
        self.host: dict[str, tuple[np.ndarray[Any, Any], Any]] = {}
        self.views: list[StridedView] = []
        self.pointers: dict[str, int] = {}
        for name, array in arrays.items():
            if isinstance(array, StridedView):
                self.pointers[name] = array.pointer
                self.views.append(array)
            else:
                memory = self.device.allocate(f"array `{name}`", array.nbytes)
                self.host[name] = (array, memory)
                self.pointers[name] = memory.ptr
        self._prepared: dict[Place, Launches] = {}
        self.context = _context()
        self._upload()

    def moved(self, addresses: Mapping[str, int]) -> "CudaCall | None":
        if self.host:
            return None
        call = copy(self)
        call.views, call.pointers, call._prepared = [], dict(addresses), {}
        return call

    def _launches(self, stream: int) -> Launches:
        """The kernels with their arguments, for `stream`, which is current. Raises Failed D104, D105."""
        place = place_of(stream)
        if place not in self._prepared:
            text, memory = self.built.text, self.built.workspace(stream)
            at = self.pointers | {n: memory + start for n, start in self.built.spaces.starts.items()}
            try:
                bound = self._bound(text, at)
            except DriverError as error:
                raise self.device.failed("prepare", text.name, error) from error
            self._prepared[place] = Launches(
                bound, memory, self.built.spaces.zeroed, cupy, replayed=self.built.text.replayed
            )
        return self._prepared[place]

    def _bound(self, text: KernelText, at: Mapping[str, int]) -> tuple[tuple[bool, PackedLaunch], ...]:
        """The launches in order, with whether workspaces are cleared in front. Raises DriverError."""
        module = self.built.module
        if text.counted:
            return tuple(
                (x.clear, bound_launch(module, text.kernels[x.kernel], at, {**self.scalars, **x.at}))
                for x in text.launches
            )
        plain = [bound_launch(module, e, at, self.scalars) for e in text.kernels]
        return tuple((x.clear, plain[x.kernel]) for x in text.launches)

    def poison(self) -> None:
        with self.device.handle:
            stream, spaces = cupy.cuda.get_current_stream().ptr, self.built.spaces
            try:
                self._launches(stream).clear(POISON, spaces.zeroed, spaces.bytes, stream)
            except LaunchError as failed:
                raise self.device.failed(failed.verb, failed.what, failed.error) from failed.error

    def _upload(self) -> None:
        for array, memory in self.host.values():
            memory.copy_from_host(ctypes.c_void_p(array.ctypes.data), array.nbytes)

    def launch(self) -> None:
        self.device.ready()
        with self.device.handle:
            self._upload()
            self._enqueue()
            self._wait()
            for name, (array, memory) in self.host.items():
                if name in self.built.written:
                    memory.copy_to_host(ctypes.c_void_p(array.ctypes.data), array.nbytes)

    def launch_on(self, streams: Sequence[int]) -> None:
        """Run behind the work of all `streams`, on the first of them. Returns at once where everything is in
        device memory, also while the stream is captured into a graph."""
        if not streams:
            self.launch()
            return
        if lost:
            self.device.ready()
        first = streams[0]
        if len(streams) == 1 and not self.host and _context() == self.context:
            prepared = self._prepared.get(place_of(first))
            if prepared is None and not self.built.spaces.bytes:
                # only workspaces have to be allocated where the stream is current
                prepared = self._launches(first)
            if prepared is not None:
                self._put(prepared, first)
                return
        leader, *rest = (stream_of(cupy, s, self.device.number) for s in streams)
        with self.device.handle:
            for other in rest:
                leader.wait_event(other.record())
            with leader:
                if self.host:
                    self.launch()
                else:
                    self._enqueue()
            for other in rest:
                other.wait_event(leader.record())

    def _enqueue(self) -> None:
        stream = cupy.cuda.get_current_stream().ptr
        self._put(self._launches(stream), stream)

    def _put(self, launches: Launches, stream: int) -> None:
        try:
            if launches.workspace:
                with self.built.lock:
                    launches.put(stream)
            else:
                launches.put(stream)
        except LaunchError as failed:
            raise self.device.failed(failed.verb, failed.what, failed.error) from failed.error

    def _wait(self) -> None:
        try:
            cupy.cuda.get_current_stream().synchronize()
        except cupy.cuda.runtime.CUDARuntimeError as error:
            last = self.built.text.kernels[-1].name
            raise self.device.failed("finish", last, error) from error

    def sample(self) -> RunTimes:
        """Times a call. wall: the host's part followed by the device's."""
        self.device.ready()
        with self.device.handle:
            first, last = cupy.cuda.Event(), cupy.cuda.Event()
            self._wait()
            keep_busy(cupy, _BUSY + _BUSY_EACH * len(self.built.text.launches))
            start = perf_counter()
            first.record()
            self._enqueue()
            last.record()
            host = perf_counter() - start
            self._wait()
            seconds = cupy.cuda.get_elapsed_time(first, last) * 1e-3
            return RunTimes(seconds, host + seconds)
