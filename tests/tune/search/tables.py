"""Spaces whose points all have a time: a table on disk, or a made-up machine for the comparison of searches.

A table is JSON Lines: a first line `{"schema": "mdh.table/1", "name": …, "variables": [{"name", "kind",
"dim", "extent", "stage", "step"}, …]}`, then a line `{"point": […], "seconds": x, "cost": y}` a point;
seconds null: it failed; cost: seconds that building, judging and timing it took.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from math import ceil
from pathlib import Path

from mdh.hardware import Space
from mdh.results.variable import Metric, Point, Variable
from tests.tune.search.doubles import ListedSpace, chain, nested_space

SCHEMA = "mdh.table/1"
USUAL = 0.3
"""Seconds that a trial takes where the table does not say."""


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    space: ListedSpace
    seconds: dict[Point, float | None]
    costs: dict[Point, float] = field(default_factory=dict)

    @property
    def cost(self) -> float:
        """Of a trial, on average."""
        return sum(self.costs.values()) / len(self.costs) if self.costs else USUAL

    @property
    def best(self) -> float:
        return min(s for s in self.seconds.values() if s is not None)


def read_table(path: Path) -> Table:
    with path.open(encoding="utf-8") as lines:
        head = json.loads(next(lines))
        if head.get("schema") != SCHEMA:
            raise ValueError(f"{path} is no {SCHEMA}")
        rows = [json.loads(line) for line in lines]
    times = {tuple(r["point"]): r["seconds"] for r in rows}
    variables = []
    for i, v in enumerate(head["variables"]):
        values = {p[i] for p in times}
        kind = Metric(v["kind"])
        ordered = tuple(sorted(values, key=str if kind is Metric.WORD else None))
        variables.append(
            Variable(v["name"], kind, ordered, v.get("dim", ""), v.get("extent", 0), v.get("stage", ""),
                     v.get("step", 0))
        )  # fmt: skip
    costs = {tuple(r["point"]): r["cost"] for r in rows if "cost" in r}
    return Table(path.stem, ListedSpace(variables, times), times, costs)


def write_table(path: Path, table: Table) -> None:
    shown = [
        {
            "name": v.name,
            "kind": str(v.kind),
            "dim": v.dim,
            "extent": v.extent,
            "stage": v.stage,
            "step": v.step,
        }
        for v in table.space.variables
    ]
    with path.open("w", encoding="utf-8") as out:
        out.write(json.dumps({"schema": SCHEMA, "name": table.name, "variables": shown}) + "\n")
        for point, seconds in table.seconds.items():
            out.write(json.dumps({"point": list(point), "seconds": seconds}) + "\n")


def _noise(point: Point, percent: float) -> float:
    """A factor that looks random and is always the same for a point: what no model explains."""
    digest = blake2b(repr(point).encode(), digest_size=4).digest()
    return 1 + percent / 100 * (int.from_bytes(digest) / 2**32)


def _number(name: str, *values: int) -> Variable:
    return Variable(name, Metric.NUMBER, values)


def _word(name: str, *values: str) -> Variable:
    return Variable(name, Metric.WORD, values)


def _table(name: str, groups: Iterable[list[Variable]], cost: Callable[..., float | None]) -> Table:
    space = nested_space(*groups)
    times = {}
    for p in space.points:
        seconds = cost(*p)
        times[p] = None if seconds is None else seconds * _noise(p, 4)
    return Table(name, space, times)


def _gpu(
    *, flops: float, bytes_: float, threads: int, blocks: int, shared: int, registers: int, stall: float
) -> float | None:
    """Roofline of a card with 100 multiprocessors: occupancy, waves and divergence slow it down."""
    if threads > 1024 or shared > 96 * 1024 or registers * threads > 65536 * 4:
        return None
    spill = max(1.0, registers / 224)
    warps = ceil(threads / 32)
    resident = min(
        32, 2048 // (warps * 32), 160 * 1024 // max(shared, 1), 65536 // max(1, registers * warps * 32)
    )
    resident = max(resident, 1)
    waves = ceil(blocks / (100 * resident)) * 100 * resident / blocks
    hidden = min(1.0, (resident * warps / 24) ** 0.5)
    lanes = warps * 32 / threads
    compute = flops / 15e12 * lanes * spill / min(1.0, hidden * 1.15)
    memory = bytes_ / 1.5e12 / min(1.0, hidden * 1.3)
    return max(compute, memory) * waves**0.7 + 0.25 * min(compute, memory) + stall + 3e-6


def _matmul_gpu(
    bm: int, tm: int, bn: int, tn: int, bk: int, vector: int, stages: int, a: str, order: str
) -> float | None:
    n = 1024
    threads = (bm // tm) * (bn // tn)
    blocks = (n // bm) * (n // bn)
    wide = vector if tn % vector == 0 and bk % vector == 0 else 1
    kept = (bm + (bn if a == Space.SM else 0)) * bk * 4 * stages
    sectors = 1.0 if (bn // tn) * wide >= 8 else 8 / ((bn // tn) * wide)
    traffic = 4.0 * n * n * n * (1 / bm * sectors + 1 / bn * (1 if bk * 4 >= 32 else 32 / (bk * 4)))
    if a != Space.SM:
        traffic += 4.0 * n * n * n / max(bm, 32) * 0.6
    conflict = 1.0 if order == "n m" or tm <= 2 else 1.25
    reuse = 1 + 3.0 / tm / wide**0.3 + 3.0 / tn / wide**0.3
    latency = 0.4e-6 * (n / bk) / stages**0.8
    return _gpu(
        flops=2.0 * n**3 * conflict * reuse / 1.5, bytes_=traffic, threads=threads, blocks=blocks,
        shared=kept, registers=tm * tn + tm + tn + 24 + 6 * stages + 2 * wide, stall=latency,
    )  # fmt: skip


def _matvec_gpu(bn: int, tn: int, bk: int, tk: int, vector: int, split: str, unroll: int) -> float | None:
    n, k = 1000, 2048
    columns, rows = ceil(bn / tn), ceil(bk / tk)
    threads = columns * rows
    parts = 1 if split == "none" else ceil(k / bk)
    blocks = ceil(n / bn) * parts
    wide = vector if tn % vector == 0 else 1
    sectors = max(1.0, 8 / (columns * wide))
    waste = ceil(n / bn) * bn / n * (ceil(bn / tn) * tn / bn)
    trips = (1 if parts > 1 else k / bk) * tk
    extra = {"none": 0.0, "atomic": 0.4e-6 * parts**0.5, "second": 3e-6 + 0.05e-6 * parts}[split]
    latency = 0.35e-6 * trips / min(unroll, tk) ** 0.6 / wide**0.3 + 0.1e-6 * rows.bit_length()
    return _gpu(
        flops=2.0 * n * k * waste * 1.5, bytes_=4.0 * n * k * sectors * waste, threads=threads, blocks=blocks,
        shared=4 * bn * rows if rows > 1 else 0, registers=tn * (1 + wide) + 20 + 2 * unroll,
        stall=latency + extra,
    )  # fmt: skip


def _matmul_cpu(
    im: int, ir: int, jm: int, jr: int, km: int, vector: int, order: str, pack: str, cores: str
) -> float | None:
    m, n, k = 768, 1000, 512
    tasks = {"i": m // im, "j": n // jm, "ij": (m // im) * (n // jm)}[cores]
    balance = ceil(tasks / 16) * 16 / tasks
    used = min(vector, jr)
    rest = 1.0 if jr % vector == 0 else 1 + vector / jr
    spill = 1.0 if ir * ceil(jr / vector) <= 24 else (ir * ceil(jr / vector) / 24) ** 0.8
    chain_ = 1.0 if ir * ceil(jr / vector) >= 8 else (8 / (ir * ceil(jr / vector))) ** 0.8
    compute = 2.0 * m * n * k / (3e9 * 2 * used * 16) * rest * spill * chain_ * (1.12 if vector == 16 else 1)
    first = 4 * (ir * km + jr * km)
    second = 4 * (im * km + km * jm * (0 if pack == "none" else 1))
    misses = (1.0 if first < 24e3 else (first / 24e3) ** 0.5) * (1.0 if second < 800e3 else (second / 800e3))
    tlb = 1.0 if pack == "B" or jm >= 250 else 1.35
    packing = {"none": 0.0, "B": 4.0 * n * k * (m / im) / 4e10 / 4, "AB": 4.0 * (m * k + n * k) * 2 / 4e10}[
        pack
    ]
    stride = {"i j k": 1.1, "j i k": 1.0, "k i j": 1.3, "k j i": 1.35, "i k j": 1.05, "j k i": 1.15}[order]
    loops = m * n * k / (ir * jr * km) * 12e-9 / 16
    return (compute * misses * tlb * stride + packing + loops) * balance + 5e-6 * (tasks > 1)


def _stencil_gpu(bi: int, ti: int, bj: int, tj: int, region: str, order: str, unroll: int) -> float | None:
    n = 2048
    threads = (bi // ti) * (bj // tj)
    blocks = (n // bi) * (n // bj)
    along, across = ((bj // tj), tj) if order == "j fast" else ((bi // ti), ti)
    halo = (bi + 4) * (bj + 4) / (bi * bj)
    again = {"none": 3.5, Space.SM: halo, "RE": 1 + 4 / ti + 2 / tj}[region]
    sectors = max(1.0, 8 / along) * (1 if across <= 4 else 1.3) * (1 if order == "j fast" else 3.0)
    return _gpu(
        flops=25.0 * n * n * (1 + 0.3 / unroll), bytes_=4.0 * n * n * (1 + again * 0.7) * sectors**0.8,
        threads=threads, blocks=blocks, shared=4 * (bi + 4) * (bj + 4) if region == Space.SM else 0,
        registers=20 + (3 if region == "RE" else 1) * ti * tj + 2 * unroll,
        stall=1.5e-6 if region == Space.SM else 0.0,
    )  # fmt: skip


def _batch_gpu(
    bb: int, bi: int, ti: int, bj: int, tj: int, layout: str, region: str, stages: int
) -> float | None:
    b, n = 1000, 96
    threads = bb * (bi // ti) * (bj // tj)
    blocks = (b // bb) * (n // bi) * (n // bj)
    shared = 4 * bb * (bi + bj) * 24 * stages if region != "none" else 0
    conflict = {"plain": 1.6 if tj % 4 == 0 else 1.0, "pad": 1.05, "swizzle": 1.0}[layout] if shared else 1.0
    traffic = 4.0 * b * n * n * (n / bi + n / bj) * (1.0 if shared else 2.5) * (1 if bj // tj >= 8 else 1.7)
    return _gpu(
        flops=2.0 * b * n**3 * conflict * (1 + 1.5 / ti + 1.5 / tj), bytes_=traffic, threads=threads,
        blocks=blocks, shared=shared, registers=ti * tj + ti + tj + 20 + 8 * stages * (region == "RE"),
        stall=6e-6 / stages if shared else 0.0,
    )  # fmt: skip


@cache
def made_up() -> tuple[Table, ...]:
    """Five spaces of 20,000 to 160,000 points on a made-up card and a made-up processor."""
    return (
        _table(
            "matmul-gpu",
            (
                chain("m", 1024, 2), chain("n", 1024, 2),
                [_number("bk", 8, 16, 32), _number("vector", 1, 4), _number("stages", 1, 3),
                 _word("a", Space.SM, "none"), _word("order", "m n")],
            ),
            _matmul_gpu,
        ),
        _table(
            "matvec-gpu",
            (
                chain("n", 1000, 2, powers=True), chain("k", 2048, 2),
                [_number("vector", 1, 4), _word("split", "none", "atomic", "second"), _number("unroll", 4)],
            ),
            _matvec_gpu,
        ),
        _table(
            "matmul-cpu",
            (
                chain("i", 768, 2), chain("j", 1000, 2), [_number("km", 64, 256)],
                [_number("vector", 8, 16), _word("order", "j i k"), _word("pack", "none", "B")],
                [_word("cores", "i", "ij")],
            ),
            _matmul_cpu,
        ),
        _table(
            "stencil-gpu",
            (
                chain("i", 2048, 2), chain("j", 2048, 2),
                [_word("region", "none", Space.SM, "RE"), _word("order", "j fast", "i fast"),
                 _number("unroll", 1, 4)],
            ),
            _stencil_gpu,
        ),
        _table(
            "batch-gpu",
            (
                [_number("bb", 1, 2, 5, 10)], chain("i", 96, 2), chain("j", 96, 2),
                [_word("layout", "pad", "swizzle"), _word("region", "none", Space.SM, "RE")],
                [_number("stages", 1, 2)],
            ),
            _batch_gpu,
        ),
    )  # fmt: skip
