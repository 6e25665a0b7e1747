"""torch: products by the library that its build hands them to (oneDNN or MKL on CPUs, cuBLAS on GPUs)."""

from collections.abc import Callable, Mapping
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from mdh.compare.calling import finish_of
from mdh.compare.library import HOST, Bound
from mdh.compare.product import COPIED
from mdh.compare.torch_calls import PEERS
from mdh.decompose.contraction import MatrixProduct, OperandView
from mdh.device.cuda import cupy
from mdh.device.cuda_busy import keep_busy
from mdh.reference.numbers import Array

torch: Any = import_module("torch")
"""Imported as a value, because a type checker takes longer for its types than for all of mdh."""


def version() -> str:
    return f"torch {torch.__version__}"


def bind(what: MatrixProduct, arrays: Mapping[str, Array], place: str) -> Bound:
    torch.set_grad_enabled(False)
    tensors = {name: torch.from_numpy(array).to(place) for name, array in arrays.items()}
    left, moved = _matrix(what, tensors, what.left, ("batch", "rows", "summed"))
    right, also = _matrix(what, tensors, what.right, ("batch", "summed", "columns"))
    target = _strided(what.out, tensors).permute(what.order(what.out, "batch", "rows", "columns"))
    run = _run(what, left, right, target)

    def fetch() -> None:
        if place != "cpu":
            arrays[what.out.buffer][...] = tensors[what.out.buffer].cpu().numpy()

    in_place = target.reshape(what.shape("batch", "rows", "columns")).data_ptr() == target.data_ptr()
    note = "" if in_place and not (moved or also) else COPIED
    return _bound(run, fetch, place, note)


def named(call: str, values: Mapping[str, Array | int | float], place: str) -> Bound:
    """One of PEERS, on tensors that stay where they are."""
    make = PEERS[call]
    torch.set_grad_enabled(False)
    # single precision is to mean just that, and cuDNN's fastest algorithm is to be found
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    tensors = {name: torch.from_numpy(np.asarray(value)).to(place) for name, value in values.items()}
    run = make(tensors)

    def fetch() -> None:
        finish_of(run)()
        for name, value in values.items() if place != "cpu" else ():
            if isinstance(value, np.ndarray):
                value[...] = tensors[name].cpu().numpy()

    return _bound(run, fetch, place)


def _bound(run: Callable[[], object], fetch: Callable[[], object], place: str, note: str = "") -> Bound:
    def call() -> None:
        run()
        if place != "cpu":
            torch.cuda.synchronize(place)

    def seconds() -> float:
        with torch.cuda.device(place):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            # the streams of both libraries are the device's default one
            keep_busy(cupy, HOST)
            start.record()
            run()
            end.record()
            end.synchronize()
            return float(start.elapsed_time(end)) * 1e-3

    return Bound(call, fetch, None if place == "cpu" else seconds, note)


def _run(
    what: MatrixProduct, left: Callable[[], Any], right: Callable[[], Any], target: Any
) -> Callable[[], None]:
    shape = what.shape("batch", "rows", "columns")
    flat = target.reshape(shape)
    in_place = flat.data_ptr() == target.data_ptr() and prod(shape) > 0

    def run() -> None:
        if in_place and what.updated:
            torch.baddbmm(flat, left(), right(), out=flat)
        elif in_place:
            torch.bmm(left(), right(), out=flat)
        elif what.updated:
            target.add_(torch.bmm(left(), right()).reshape(target.shape))
        else:
            target.copy_(torch.bmm(left(), right()).reshape(target.shape))

    return run


def _matrix(
    what: MatrixProduct, tensors: Mapping[str, Any], view: OperandView, names: tuple[str, str, str]
) -> tuple[Callable[[], Any], bool]:
    """A function that returns the view as a batch of matrices, and whether it copies for that."""
    whole = _strided(view, tensors).permute(what.order(view, *names))
    shape = what.shape(*names)
    once = whole.reshape(shape)
    if once.data_ptr() == whole.data_ptr():
        return lambda: once, False
    return lambda: whole.reshape(shape), True


def _strided(view: OperandView, tensors: Mapping[str, Any]) -> Any:
    return tensors[view.buffer].reshape(-1).as_strided(view.shape, view.strides, view.offset)
