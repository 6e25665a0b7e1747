"""What an NVIDIA multiprocessor's ports give: reads of shared memory by lane, multiply-adds by their order.

scripts/ports                prints both tables: artifacts/h200/ports.md
scripts/ports reads          that of shared memory
scripts/ports multiplies     that of multiply-adds

Both decide how the threads of a product are laid out: which lanes share an operand, and how large a thread's
tile has to be until registers, not shared memory, hold it back.
"""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

PATTERNS: dict[str, Callable[[int], int]] = {
    "one vector for all": lambda lane: 0,
    "a vector each": lambda lane: lane,
    "4x8 lanes, columns fastest: rows (lane / 8)": lambda lane: lane // 8,
    "4x8 lanes, columns fastest: columns (lane % 8)": lambda lane: lane % 8,
    "4x8 lanes, rows even, odd and by halves: rows": lambda lane: lane % 2 + lane // 16 * 2,
    "4x8 lanes, rows even, odd and by halves: columns": lambda lane: lane // 2 % 8,
    "2x16 lanes, columns fastest: columns (lane % 16)": lambda lane: lane % 16,
    "2x16 lanes, rows fastest: rows (lane % 2)": lambda lane: lane % 2,
    "2x16 lanes, rows fastest: columns (lane / 2)": lambda lane: lane // 2,
}
"""Which vector of 16 bytes a lane reads."""
READ = """
extern "C" __global__ void read_all(const int *offset, long long *cycles, int rounds)
{
    __shared__ __align__(16) float s[8192];
    unsigned from = (unsigned)__cvta_generic_to_shared(s) + offset[threadIdx.x % 32];
    __syncthreads();
    int seen = 0;
    long long start = clock64();
    for (int r = 0; r < rounds; ++r) {
        #pragma unroll
        for (int u = 0; u < 16; ++u) {
            float x, y, z, w;
            asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "r"(from + u * 512));
            // what is not used is not read, and without `volatile` it is read once
            seen ^= __float_as_int(x) ^ __float_as_int(y);
            seen ^= __float_as_int(z) ^ __float_as_int(w);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[0] = clock64() - start;
    if (seen == 1234567)
        cycles[1] = seen;
}
"""
WARPS, ROUNDS = 8, 256
TILES = {"float": ((8, 16), (16, 8), (12, 8), (8, 8), (8, 4)), "double": ((8, 8), (8, 4))}
ORDERS = ("row by row", "row by row, to and fro", "column by column, to and fro")
MOST, REGISTERS = 4, 65536
"""Warps of a partition; registers of a multiprocessor."""
CHAIN = 2000


def main(argv: Sequence[str]) -> int:
    try:
        cupy = import_module("cupy")
        cupy.cuda.runtime.getDeviceCount()
    except (ImportError, RuntimeError) as error:
        sys.stderr.write(f"scripts/ports needs cupy and an NVIDIA GPU: {error}\n")
        return 1
    device = cupy.cuda.runtime.getDeviceProperties(0)
    name, units, clock = device["name"].decode(), device["multiProcessorCount"], device["clockRate"] * 1e3
    sections = {"reads": lambda: _reads(cupy), "multiplies": lambda: _multiplies(cupy, units, clock)}
    wrong = [word for word in argv if word not in sections]
    if wrong:
        sys.stderr.write(f"scripts/ports: there is no `{wrong[0]}`; there are: {', '.join(sections)}\n")
        return 2
    said = [sections[word]() for word in argv or sections]
    command = " ".join(["scripts/ports", *argv])
    text = "\n".join((f"# Ports of a multiprocessor\n\nWritten by `{command}` on an {name}.\n", *said))
    sys.stdout.write(text + "\n")
    return 0


def _reads(cupy: Any) -> str:
    kernel = cupy.RawKernel(READ, "read_all")
    lines = [
        "## Reads of 16 bytes a lane from shared memory\n",
        f"Cycles for each read of a warp, {WARPS} warps at once. Two fit into one where lanes that differ in "
        "their lowest bit, or else those that differ in the next one, read the same.\n",
        "| lanes read | cycles |",
        "|---|---:|",
    ]
    for name, vector in PATTERNS.items():
        offsets = cupy.asarray([16 * vector(lane) for lane in range(32)], dtype=cupy.int32)
        cycles = cupy.zeros(2, dtype=cupy.int64)
        for _ in range(3):
            kernel((1,), (32 * WARPS,), (offsets, cycles, cupy.int32(ROUNDS)))
        lines.append(f"| {name} | {int(cycles[0]) / (ROUNDS * 16 * WARPS):.2f} |")
    return "\n".join(lines) + "\n"


def _multiplies(cupy: Any, units: int, clock: float) -> str:
    counts = range(1, MOST + 1)
    lines = [
        "## Multiply-adds of registers alone\n",
        "The outer product of a column and a row that lie in registers, again and again: the rate in parts "
        f"of what the pipes could do at {clock / 1e9:.2f} GHz, by warps of a partition.\n",
        "| type | tile | order | registers | " + " | ".join(map(str, counts)) + " |",
        "|---|---|---|---:|" + "---:|" * MOST,
    ]
    for kind, tiles in TILES.items():
        values = cupy.random.rand(4096).astype(cupy.float64 if kind == "double" else cupy.float32)
        for high, wide in tiles:
            for order in ORDERS:
                kernel = cupy.RawKernel(_outer(kind, high, wide, order), "outer")
                rates = []
                for warps in counts:
                    threads = 128 * warps
                    if kernel.num_regs * threads > REGISTERS:
                        rates.append("–")
                        continue
                    seconds = min(_seconds(cupy, kernel, units, threads, values) for _ in range(3))
                    cycles = 2 * high * wide * CHAIN * warps * (2 if kind == "double" else 1)
                    rates.append(f"{100 * cycles / (seconds * clock):.0f}%")
                cells = (kind, f"{high}x{wide}", order, str(kernel.num_regs), *rates)
                lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _outer(kind: str, high: int, wide: int, order: str) -> str:
    """A kernel whose loop is the outer product twice; assembly, lest the compiler choose another order."""
    letter, suffix = ("d", "f64") if kind == "double" else ("f", "f32")
    if order.startswith("column"):
        places = [(high - 1 - i if j % 2 else i, j) for j in range(wide) for i in range(high)]
    else:
        back = order.endswith("fro")
        places = [(i, wide - 1 - j if back and i % 2 else j) for i in range(high) for j in range(wide)]
    body = "\n".join(
        f'asm volatile("fma.rn.{suffix} %0, %1, %2, %0;" : "+{letter}"(c[{i * wide + j}])'
        f' : "{letter}"(a[{i}]), "{letter}"(b[{j}]));'
        for i, j in places
    )
    return f"""
extern "C" __global__ void outer({kind} *p, int rounds)
{{
    {kind} a[{high}], b[{wide}], c[{high * wide}] = {{}}, sum = 0;
    for (int i = 0; i < {high}; ++i) a[i] = p[i + threadIdx.x];
    for (int j = 0; j < {wide}; ++j) b[j] = p[j + threadIdx.x + 64];
    #pragma unroll 1
    for (int r = 0; r < rounds; ++r) {{
        {body}
        {body}
    }}
    for (int i = 0; i < {high * wide}; ++i) sum += c[i];
    if (sum == 1234567) p[0] = sum;
}}"""


def _seconds(cupy: Any, kernel: Any, units: int, threads: int, values: Any) -> float:
    first, last = cupy.cuda.Event(), cupy.cuda.Event()
    first.record()
    kernel((units,), (threads,), (values, cupy.int32(CHAIN)))
    last.record()
    last.synchronize()
    return float(cupy.cuda.get_elapsed_time(first, last)) * 1e-3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
