"""The smallest input that still goes wrong in the same way."""

from collections.abc import Callable

TRIES = 150


def shrunk(data: bytes, wrong: Callable[[bytes], bool]) -> bytes:
    """`data` without the spans that it takes to be wrong; wrong: asked TRIES times at most."""
    left = TRIES
    size = max(1, len(data) // 2)
    while size:
        at = 0
        while at < len(data) and left:
            shorter = data[:at] + data[at + size :]
            left -= 1
            if wrong(shorter):
                data = shorter
            else:
                at += size
        size = size // 2 if left else 0
    return data
