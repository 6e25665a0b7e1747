"""The target languages: what each of them can say of what a machine can do.

Everything between the two texts and the target asks a Language for an ability, never for its name.
"""

from dataclasses import dataclass, replace

from mdh.hardware import Engine, Layer
from mdh.machine import Machine

_ALL = frozenset(Layer)


@dataclass(frozen=True, slots=True)
class Language:
    """title: what people call it; short: in a sentence about core layers. kind: of the machines it is first
    of all for. layers: core layers that it can split over. engines: of copies that it has words for. widths:
    lanes of VEC. shared: bytes of a block's shared memory that NVIDIA's compiler gives at most, None: all
    that the machine has.
    """

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
    """Blocks of a running kernel hand values to one another."""
    packed_words: bool = False
    """A state and a value of up to 32 bits are written and read as one word."""
    dependent_launch: bool = False
    """A kernel may begin before the one in front of it has ended."""
    launch_bounds: bool = False
    load_hints: bool = False
    """Loads tell caches what will become of a line."""
    store_hints: bool = False
    offline: bool = False
    """Compiled without the device at hand."""

    def seen(self, machine: Machine) -> Machine:
        """What is left of a machine's abilities."""
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
        "CUDA C++", "CUDA", "gpu", _ALL, frozenset(Engine), (2, 4),
        shuffles=True, float_atomics=True, acquire_release=True, packed_words=True, dependent_launch=True,
        launch_bounds=True, load_hints=True, store_hints=True, offline=True,
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
