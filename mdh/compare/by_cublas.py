"""cuBLAS through cupy's products, on arrays in the GPU's memory, timed by its events."""

from collections.abc import Mapping
from typing import Any

from mdh.compare.library import HOST, Bound
from mdh.compare.product import product
from mdh.decompose.contraction import MatrixProduct
from mdh.device.cuda import cupy
from mdh.device.cuda_busy import keep_busy
from mdh.reference.numbers import Array


def version() -> str:
    """cuBLAS' version. Raises ImportError if cupy is not installed."""
    if cupy is None:
        raise ImportError("no cupy")
    number = cupy.cuda.cublas.getVersion(cupy.cuda.device.get_cublas_handle())
    return f"cupy {cupy.__version__}, cuBLAS {number}"


def bind(what: MatrixProduct, arrays: Mapping[str, Array], place: str) -> Bound:
    device = cupy.cuda.Device(int(place.partition(":")[2] or 0))
    with device:
        held = {name: cupy.asarray(array) for name, array in arrays.items()}
        run, note = product(cupy, what, held)
        start, end = cupy.cuda.Event(), cupy.cuda.Event()

    def call() -> None:
        with device:
            run()
            device.synchronize()

    def seconds() -> float:
        with device:
            keep_busy(cupy, HOST)
            start.record()
            run()
            end.record()
            end.synchronize()
            return float(cupy.cuda.get_elapsed_time(start, end)) * 1e-3

    def fetch() -> None:
        result: Any = arrays[what.out.buffer]
        result[...] = held[what.out.buffer].get()

    return Bound(call, fetch, seconds, note)
