"""The target languages and the features that each of them has.

The checker, the lowering and the tuner ask a Language for a feature; they never compare its name.
"""

from dataclasses import dataclass, replace

from mdh.hardware import Engine, Layer
from mdh.machine import Machine

_ALL = frozenset(Layer)


@dataclass(frozen=True, slots=True)
class Language:
    """A target language. title: its full name; short: the name in messages. kind: `gpu` or `cpu`, the
    machines that it is mostly used on. layers: the core layers that a schedule may split over. engines: the
    copy engines that it can name. widths: legal numbers of vector lanes. shared: the most bytes of shared
    memory that NVIDIA's compiler gives a block; None: as many as the machine has."""

    title: str
    short: str
    kind: str
    layers: frozenset[Layer]
    engines: frozenset[Engine]
    widths: tuple[int, ...]
    shared: int | None = None
    shuffles: bool = False
    """Lanes of a warp exchange values."""
    float_atomics: bool = False
    acquire_release: bool = False
    """Blocks of a running kernel can pass values to one another."""
    packed_words: bool = False
    """A flag and a value of up to 32 bits can be read and written together, as one 64-bit word."""
    dependent_launch: bool = False
    """A kernel may begin before its predecessor has ended."""
    graphs: bool = False
    """Many launches can be recorded, and replayed as one."""
    launch_bounds: bool = False
    tensor_cores: bool = False
    load_hints: bool = False
    """Loads can carry a cache hint."""
    store_hints: bool = False
    offline: bool = False
    """Kernels can be compiled on a machine that does not have the device."""

    def seen(self, machine: Machine) -> Machine:
        """The machine, without the features that this language cannot use."""
        shared = machine.shared_per_block
        if machine.compute_capability is not None and self.shared is not None:
            shared = min(shared, self.shared)
        return replace(
            machine,
            cluster=machine.cluster if Layer.CLU in self.layers else 1,
            copy_engines=tuple(e for e in machine.copy_engines if e in self.engines),
            shuffle=machine.shuffle and self.shuffles,
            float_atomics=machine.float_atomics and self.float_atomics,
            acquire_release=machine.acquire_release and self.acquire_release,
            shared_per_block=shared,
        )


LANGUAGES = {
    "cuda": Language(
        "CUDA C++", "CUDA", "gpu", _ALL, frozenset(Engine), (2, 4, 8),
        shuffles=True, float_atomics=True, acquire_release=True, packed_words=True, dependent_launch=True,
        graphs=True, launch_bounds=True, tensor_cores=True, load_hints=True, store_hints=True, offline=True,
    ),
    "opencl": Language(
        "OpenCL C", "OpenCL", "cpu", _ALL - {Layer.CLU}, frozenset({Engine.PLAIN}), (2, 4, 8, 16),
        shared=49152,
    ),
    "c": Language(
        "C", "C", "cpu", _ALL - {Layer.CLU}, frozenset({Engine.PLAIN}), (2, 4, 8, 16), store_hints=True
    ),
}  # fmt: skip
"""By target. OpenCL is version 1.2; NVIDIA's compiler for it has no way to ask for more shared memory."""
