"""Machines are data: the limits and speeds that the checker, the default schedules and the model use."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Machine:
    """One device model (machines/*.toml, schema `mdh.machine/1`). Bytes, Hz, FLOP/s, bytes/s.

    kind `gpu` or `cpu`; targets: subset of ("cuda", "opencl"). On a CPU, a BLK is a work-group on a core,
    `shared_per_block` is the cache share that SM buffers may fill, `warp` is 1.
    """

    name: str
    title: str
    kind: str
    targets: tuple[str, ...]
    arch: str
    """CUDA architecture (`sm_90a`), or the OpenCL flavour (`cpu`, `gpu`)."""
    units: int
    """Multiprocessors or cores."""
    warp: int
    threads_per_block: int
    block_limits: tuple[int, int, int]
    grid_limits: tuple[int, int, int]
    threads_per_unit: int
    blocks_per_unit: int
    shared_per_block: int
    shared_per_unit: int
    registers_per_unit: int
    registers_per_thread: int
    cluster: int
    """Most blocks in a cluster; 1 where there are none."""
    vector_bytes: int
    """Widest vector access (GPU) or SIMD register (CPU)."""
    copy_engines: tuple[str, ...]
    """`plain`, `async` (cp.async), `tma`."""
    shuffle: bool
    """Lanes of a warp exchange registers in the target language."""
    float_atomics: bool
    acquire_release: bool
    """Blocks can hand values to one another inside a kernel (ticket, look-back)."""
    half: bool
    """16-bit float arithmetic; where False 16-bit floats are storage only."""
    memory: int
    caches: tuple[int, ...]
    """Bytes of L1, L2, L3 as one core or multiprocessor sees them (L2 of a GPU: the whole)."""
    clock: float
    bandwidth: float
    peak_f32: float
    peak_f64: float
