"""A contraction as one product of matrices, by a library with numpy's interface.

Views become matrices without a copy if their loops lie in memory as the product needs them. Otherwise (the
windows of a convolution) each call copies.
"""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from mdh.decompose.contraction import MatrixProduct, OperandView

Arrays = Mapping[str, Any]
COPIED = "arrays are copied in each call, before the product or after it"


def product(xp: Any, what: MatrixProduct, arrays: Arrays) -> tuple[Callable[[], object], str]:
    """The call, and a note if it copies. xp: numpy, or a module like it; arrays: of that module."""
    batch = prod(what.shape("batch"))
    left, moved = matrix(xp, what, arrays, what.left, ("batch", "rows", "summed"))
    right, also = matrix(xp, what, arrays, what.right, ("batch", "summed", "columns"))
    target = _strided(xp, what.out, arrays).transpose(what.order(what.out, "batch", "rows", "columns"))
    shape = what.shape("batch", "rows", "columns")
    flat = target.reshape(shape)
    in_place = xp.may_share_memory(flat, target) and not what.updated

    def call() -> None:
        one, two = left(), right()
        if batch == 1:
            one, two = one[0], two[0]
        if in_place:
            xp.matmul(one, two, out=flat[0] if batch == 1 else flat)
            return
        found = xp.matmul(one, two).reshape(target.shape)
        if what.updated:
            xp.add(target, found, out=target)
        else:
            target[...] = found

    return call, COPIED if moved or also or not (in_place or what.updated) else ""


def matrix(
    xp: Any, what: MatrixProduct, arrays: Arrays, view: OperandView, names: tuple[str, str, str]
) -> tuple[Callable[[], Any], bool]:
    """A function that returns the view as a batch of matrices, and whether it copies for that."""
    whole = _strided(xp, view, arrays).transpose(what.order(view, *names))
    shape = what.shape(*names)
    once = whole.reshape(shape)
    if xp.may_share_memory(once, whole):
        return lambda: once, False
    return lambda: whole.reshape(shape), True


def _strided(xp: Any, view: OperandView, arrays: Arrays) -> Any:
    flat = arrays[view.buffer].reshape(-1)[view.offset :]
    steps = tuple(s * flat.itemsize for s in view.strides)
    return xp.lib.stride_tricks.as_strided(flat, view.shape, steps)
