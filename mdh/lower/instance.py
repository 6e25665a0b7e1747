"""Instances: where a buffer's elements live at some place in the code, and how to index them there.

A buffer starts in DM. A staging makes an instance that holds the image of the buffer's accesses over the
levels inside the copy point (language.md section 5), as a bounding box or, where the image has holes, packed.
"""

from dataclasses import dataclass

from mdh.ir.affine import Affine
from mdh.ir.kernel import Buf
from mdh.ir.layout import Axis


@dataclass(frozen=True, slots=True)
class Instance:
    """`buf` holds the buffer's elements that the axes name. slot: the pipeline slot to read, prefixed to
    every index."""

    buf: Buf
    axes: tuple[Axis, ...]
    slot: Affine | None = None

    def local(self, index: tuple[Affine, ...]) -> tuple[Affine, ...]:
        return tuple(axis.local(i) for axis, i in zip(self.axes, index, strict=True))


def whole(buf: Buf) -> Instance:
    """An array of device memory."""
    return Instance(buf, tuple(Axis(Affine(), n, False, ()) for n in buf.shape))
