"""The launches of a call in order, and many of them replayed as one CUDA graph.

A launch from the host takes some microseconds, in which a GPU finishes a small kernel. Loops around kernels
launch hundreds. A graph of them is launched as one.
"""

from typing import Any

from mdh.device.cuda_driver import DriverError, PackedLaunch, fill

_FEW = 8
"""Launches that a graph would save nothing of."""
_MANY = 1 << 16
"""Launches beyond which a graph takes too much memory: some hundred bytes each, on both sides."""
_RELAXED = 2
"""cudaStreamCaptureModeRelaxed: other threads may allocate meanwhile."""


class LaunchError(Exception):
    """A command that failed: `verb` and `what` say which one."""

    def __init__(self, verb: str, what: str, error: DriverError) -> None:
        super().__init__(verb, what, error)
        self.verb, self.what, self.error = verb, what, error


class Launches:
    """The kernels of a call for one stream. kernels: with whether workspaces are cleared in front of each.
    workspace: the address of the stream's, 0 where none is needed. zeroed: bytes of it that begin as zeros.

    replayed: whether the schedule wants a graph. Then the first call records it. Where it says nothing, the
    second call of many launches does, since a graph takes longer to make than to launch its kernels once.
    """

    def __init__(
        self, kernels: tuple[tuple[bool, PackedLaunch], ...], workspace: int, zeroed: int, cupy: Any, *,
        replayed: bool | None = None,
    ) -> None:  # fmt: skip
        self.kernels, self.workspace, self.zeroed = kernels, workspace, zeroed
        self._cupy, self._calls, self._graph = cupy, 0, None
        self._replayed = _FEW < len(kernels) <= _MANY if replayed is None else replayed
        self._recording = 1 if replayed else 2

    def put(self, stream: int) -> None:
        """Enqueue all. Raises LaunchError."""
        if not self._replayed:
            self._put_each(stream)
            return
        runtime = self._cupy.cuda.runtime
        try:
            recorded = runtime.streamIsCapturing(stream)
            self._calls += 1
            if self._graph is None and self._calls >= self._recording and not recorded:
                self._graph = self._recorded()
            if self._graph is not None and not recorded:
                runtime.graphLaunch(self._graph.graphExec, stream)
                return
        except runtime.CUDARuntimeError:
            # the launches themselves say what is wrong
            self._graph, self._replayed = None, False
        self._put_each(stream)

    def clear(self, byte: int, start: int, stop: int, stream: int) -> None:
        """Set bytes of the workspaces. Raises LaunchError."""
        if start < stop:
            try:
                fill(self.workspace + start, byte, stop - start, stream)
            except DriverError as error:
                raise LaunchError("clear", "workspaces", error) from error

    def _recorded(self) -> Any:
        """The graph of all launches. Raises cupy's CUDARuntimeError, LaunchError."""
        side = self._cupy.cuda.Stream(non_blocking=True)
        side.begin_capture(_RELAXED)
        try:
            self._put_each(side.ptr)
        finally:
            graph = side.end_capture()
        return graph

    def _put_each(self, stream: int) -> None:
        if self.workspace:
            self.clear(0, 0, self.zeroed, stream)
        for clear, launch in self.kernels:
            if clear:
                self.clear(0, 0, self.zeroed, stream)
            try:
                launch.enqueue(stream)
            except DriverError as error:
                raise LaunchError("launch", launch.name, error) from error
