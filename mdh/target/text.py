"""KernelText: what a target prints and a device builds; all a launch needs besides the arrays."""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from mdh.hardware import Launching
from mdh.ir.copy_engine import TensorMap
from mdh.ir.dtype import DType
from mdh.ir.kernel import Launch
from mdh.ir.numerics import ByStage
from mdh.ir.turns import Counters, Turns, run_order


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


@dataclass(frozen=True, slots=True)
class Launched:
    """Kernel number `kernel` in a turn of the loops around it. clear: workspaces that begin as zeros are
    cleared in front of it."""

    kernel: int
    at: Counters
    clear: bool


@dataclass(frozen=True)
class KernelText:
    """Source for one device language, its kernels in launch order, and what they need.

    language: `cuda`, `opencl` or `c`. params: the C function's parameters in order. options: build options
    that the text relies on (the architecture is the device's to add). numerics: of its stages, for the judge.
    loops: around kernels. libraries: what the text calls and has to be linked with.
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
    loops: tuple[Turns, ...] = ()
    libraries: tuple[str, ...] = ()

    @cached_property
    def launches(self) -> tuple[Launched, ...]:
        """The kernels of a call in the order in which they run."""
        begins = [k for k, e in enumerate(self.kernels) if not k or e.stage != self.kernels[k - 1].stage]
        zeroed = any(w.zero for w in self.workspaces)
        order = run_order(self.loops, len(self.kernels))
        return tuple(Launched(k, at, zeroed and bool(at) and k in begins) for k, at in order)

    @cached_property
    def replayed(self) -> bool | None:
        """Whether the launches of a call are replayed as a graph; None: as the device likes."""
        said = {x.launch for x in self.loops} - {None}
        return Launching.GRAPH in said if said else None

    @cached_property
    def counted(self) -> bool:
        """Whether a kernel takes the number of a turn, so that its arguments differ from launch to launch."""
        names = {x.var for x in self.loops}
        return any(a.name in names for k in self.kernels for a in k.args if isinstance(a, ScalarArg))

    @cached_property
    def digest(self) -> str:
        """sha256 of the source text, in hex: the key of build caches and records."""
        return sha256(self.source.encode()).hexdigest()
