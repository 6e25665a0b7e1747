"""Streams by their numbers: as keys, and in cupy's terms."""

from threading import get_ident
from typing import Any

_PER_THREAD = 2
"""CU_STREAM_PER_THREAD: one number for another stream in each thread."""
Place = int | tuple[int, int]
"""A stream as a key."""


def place_of(stream: int) -> Place:
    return (stream, get_ident()) if stream == _PER_THREAD else stream


class _Foreign:
    """A stream of another library, with the protocol of CUDA streams."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


def stream_of(cupy: Any, handle: int, number: int) -> Any:
    """The stream `handle` of device `number` as cupy's object. cupy 14 deprecates ExternalStream."""
    if hasattr(cupy.cuda.Stream, "from_external"):
        with cupy.cuda.Device(number):
            return cupy.cuda.Stream.from_external(_Foreign(handle))
    return cupy.cuda.ExternalStream(handle, number)
