"""KernelText: what a target prints and a device builds; all a launch needs besides the arrays."""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from mdh.ir.copy_engine import TensorMap
from mdh.ir.dtype import DType
from mdh.ir.kernel import Launch
from mdh.ir.numerics import ByStage


@dataclass(frozen=True, slots=True)
class BufferArg:
    """A pointer argument: `name` is the program's buffer or a workspace; the kernel may touch `bytes`."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    bytes: int
    readonly: bool


@dataclass(frozen=True, slots=True)
class ScalarArg:
    """A value argument: `name` is the C function's parameter."""

    name: str
    dtype: DType


Arg = BufferArg | ScalarArg | TensorMap
"""A tensor map is made of its array's address before a launch."""


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """One kernel of the text. `name` is its symbol in the source; static bytes are declared in the source,
    dynamic bytes must be given at the launch (above 48 KiB also as the function's attribute, CUDA)."""

    name: str
    stage: str
    launch: Launch
    args: tuple[Arg, ...]
    static_shared: int = 0
    dynamic_shared: int = 0


@dataclass(frozen=True, slots=True)
class Scratch:
    """A workspace of one call. zero: must be zero bytes before the first kernel."""

    name: str
    dtype: DType
    bytes: int
    zero: bool


@dataclass(frozen=True)
class KernelText:
    """Source for one device language, its kernels in launch order, and what they need.

    language: `cuda`, `opencl` or `c`. params: the C function's parameters in order. options: build options
    that the text relies on (the architecture is the device's to add). numerics: of its stages, for the judge.
    """

    name: str
    language: str
    machine: str
    source: str
    kernels: tuple[EntryPoint, ...]
    workspaces: tuple[Scratch, ...]
    params: tuple[str, ...]
    options: tuple[str, ...]
    numerics: ByStage = ()

    @cached_property
    def digest(self) -> str:
        """sha256 of the source text, in hex: the key of build caches and records."""
        return sha256(self.source.encode()).hexdigest()
