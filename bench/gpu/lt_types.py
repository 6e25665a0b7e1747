"""cuBLASLt's interface as far as products need it: its numbers, and its functions that raise."""

import ctypes
from ctypes import c_float, c_int, c_size_t, c_uint64, c_void_p
from typing import Any

F32, F64, F16, BF16, I8, I32, E4M3 = 0, 1, 2, 14, 3, 10, 28
"""Types of elements."""
COMPUTE_F32, COMPUTE_F32_PEDANTIC, COMPUTE_F64, COMPUTE_I32, COMPUTE_F32_FAST_TF32 = 68, 69, 70, 72, 77
TRANS_A, TRANS_B, EPILOGUE, BIAS_POINTER = 3, 4, 7, 8
"""Attributes of a product."""
RELU_BIAS = 6
BATCH_COUNT, BATCH_STRIDE = 5, 6
"""Attributes of a matrix."""
WORKSPACE_BYTES = 1
CAP_SPLIT_K, CAP_REDUCTION, CAP_SWIZZLE, CAP_TILES, CAP_STAGES, CAP_ARITHMETIC = 0, 1, 2, 6, 13, 15
CONFIG_TILE, CONFIG_SPLIT_K, CONFIG_REDUCTION, CONFIG_SWIZZLE, CONFIG_STAGES = 1, 2, 3, 4, 6
TENSOR_CORES, TF32_INPUT = 0xFE, 1 << 18
"""Bits of CAP_ARITHMETIC."""


class Algorithm(ctypes.Structure):
    _fields_ = [("data", c_uint64 * 8)]


class Found(ctypes.Structure):
    """What the library answers to a question for algorithms."""

    _fields_ = [
        ("algorithm", Algorithm), ("workspace", c_size_t), ("state", c_int), ("waves", c_float),
        ("reserved", c_int * 4),
    ]  # fmt: skip


class RefusedError(Exception):
    """A status other than success."""


class Library:
    """Raises ImportError where it is not installed. A framework that is loaded has loaded it."""

    def __init__(self) -> None:
        for name in ("libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"):
            try:
                self._library = ctypes.CDLL(name)
                break
            except OSError:
                continue
        else:
            raise ImportError("libcublasLt is not installed")
        self._library.cublasLtGetVersion.restype = c_size_t
        self.version = int(self._library.cublasLtGetVersion())

    def __call__(self, name: str, *arguments: Any) -> None:
        """Raises RefusedError."""
        status = self._library[f"cublasLt{name}"](*arguments)
        if status:
            raise RefusedError(f"cublasLt{name} says {status}")

    def created(self, name: str, *arguments: Any) -> c_void_p:
        out = c_void_p()
        self(f"{name}Create", ctypes.byref(out), *arguments)
        return out

    def set(self, kind: str, of: Any, attribute: int, value: Any) -> None:
        self(f"{kind}SetAttribute", of, c_int(attribute), ctypes.byref(value), c_size_t(ctypes.sizeof(value)))

    def capability(self, algorithm: Algorithm, attribute: int, kind: Any) -> list[int]:
        """An attribute's values, none where the library does not tell."""
        size = c_size_t()
        try:
            self._told(algorithm, attribute, None, size)
            values = (kind * (size.value // ctypes.sizeof(kind)))()
            if len(values):
                self._told(algorithm, attribute, values, size)
        except RefusedError:
            return []
        return list(values)

    def _told(self, algorithm: Algorithm, attribute: int, values: Any, size: c_size_t) -> None:
        """The size must be the attribute's own; without values it is asked for."""
        room = c_size_t(0 if values is None else ctypes.sizeof(values))
        self(
            "MatmulAlgoCapGetAttribute", ctypes.byref(algorithm), c_int(attribute), values, room,
            ctypes.byref(size),
        )  # fmt: skip
