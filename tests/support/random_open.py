"""Random programs with open sizes, and random schedules for them, run at many sizes of the ranges.

A program has loops over sizes that are parameters of the function. Some stay open. The kernel is built once,
and judged at each size against the program that is read for it alone.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from random import Random

from mdh.api.kernel import at_sizes
from mdh.checker.open_default import default_for
from mdh.checker.run import check
from mdh.device.protocols import Device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.open_size import OpenSize
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import Machine
from mdh.pipeline import Pipeline
from mdh.reference.numbers import numpy_dtype
from mdh.schedule.cases import Table
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.verify.arguments import guarded
from tests.support.arrays import random_arrays
from tests.support.pairs import Outcome, drawn, judged, rejected
from tests.support.random_schedules import random_schedule

TYPES = ("float", "float", "double", "int", "_Float16")
FIXED = (1, 3, 8, 16, 20, 33)
MOST = (5, 16, 40, 64, 100, 129)
SMALL = (5, 9, 17)
"""Largest sizes for simulators."""
MULTIPLES = (1, 1, 1, 2, 4, 8)
SIZES = 7
"""Sizes at which each kernel runs, the ends of the ranges among them."""


@dataclass(frozen=True, slots=True)
class OpenProgram:
    """defines: with ranges for the sizes that stay open."""

    kind: str
    source: Source
    defines: dict[str, str | int]


def _product(rng: Random, t: str) -> str:
    a, b = rng.choice(("A[i][k]", "A[k][i]")), rng.choice(("B[k][j]", "B[j][k]"))
    of = {"A[i][k]": "A[M][K]", "A[k][i]": "A[K][M]", "B[k][j]": "B[K][N]", "B[j][k]": "B[N][K]"}
    start = rng.choice(("C[i][j] = 0;", "", "C[i][j] = bias[j];"))
    end = rng.choice(("", "C[i][j] = C[i][j] > 0 ? C[i][j] : 0;", "C[i][j] = C[i][j] + bias[j];"))
    return f"""void f(int M, int N, int K, const {t} {of[a]}, const {t} {of[b]}, const {t} bias[N],
       {t} C[M][N])
{{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {{
            {start}
            for (int k = 0; k < K; k++)
                C[i][j] += {a} * {b};
            {end}
        }}
}}
"""


def _batched(rng: Random, t: str) -> str:
    return f"""void f(int M, int N, int K, const {t} A[M][N][K], const {t} B[K][5], {t} C[M][N][5])
{{
    for (int b = 0; b < M; b++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < 5; j++)
                for (int k = 0; k < K; k++)
                    C[b][i][j] += A[b][i][k] * B[k][j];
}}
"""


def _map(rng: Random, t: str) -> str:
    out = rng.choice(("y[i][j]", "y[j][i]"))
    shape = "y[M][N]" if out == "y[i][j]" else "y[N][M]"
    value = rng.choice(("x[i][j] + z[j]", "2 * x[i][j + 1] - x[i][j]", "x[i][j] * z[i % 1 + j]"))
    value = value.replace("i % 1 + j", "j")
    return f"""void f(int M, int N, const {t} x[M][N + 1], const {t} z[N], {t} {shape})
{{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            {out} = {value};
}}
"""


def _stencil(rng: Random, t: str) -> str:
    return f"""void f(int M, int N, const {t} x[M + 2][N + 2], {t} y[M][N])
{{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            y[i][j] = x[i][j + 1] + x[i + 1][j] + x[i + 1][j + 2] + x[i + 2][j + 1] - 4 * x[i + 1][j + 1];
}}
"""


def _inner(rng: Random, t: str) -> str:
    """A loop that leaves out the border: extents are sizes less a constant."""
    return f"""void f(int M, int N, const {t} x[M][N], {t} y[M][N])
{{
    for (int i = 1; i < M - 1; i++)
        for (int j = 1; j <= N - 2; j++)
            y[i][j] = x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1];
}}
"""


def _reduction(rng: Random, t: str) -> str:
    body = rng.choice(("y[i] += x[i][j];", "if (x[i][j] > y[i]) y[i] = x[i][j];", "y[i] += x[i][j] * z[j];"))
    index = rng.choice(("x[i][j]", "x[j][i]"))
    shape = "x[M][N]" if index == "x[i][j]" else "x[N][M]"
    return f"""void f(int M, int N, const {t} {shape}, const {t} z[N], {t} y[M])
{{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            {body.replace("x[i][j]", index)}
}}
"""


def _best(rng: Random, t: str) -> str:
    return f"""void f(int M, int N, const {t} x[M][N], {t} best[M], int at[M])
{{
    for (int i = 0; i < M; i++) {{
        best[i] = x[i][0];
        at[i] = 0;
        for (int j = 0; j < N; j++)
            if (x[i][j] > best[i]) {{
                best[i] = x[i][j];
                at[i] = j;
            }}
    }}
}}
"""


def _convolution(rng: Random, t: str) -> str:
    return f"""void f(int M, int N, int K, const {t} x[M][N + 2][7][K], const {t} w[4][3][3][K],
       {t} y[M][N][5][4])
{{
    for (int b = 0; b < M; b++)
        for (int p = 0; p < N; p++)
            for (int q = 0; q < 5; q++)
                for (int c = 0; c < 4; c++)
                    for (int r = 0; r < 3; r++)
                        for (int s = 0; s < 3; s++)
                            for (int k = 0; k < K; k++)
                                y[b][p][q][c] += x[b][p + r][q + s][k] * w[c][r][s][k];
}}
"""


def _two_stages(rng: Random, t: str) -> str:
    return f"""void f(int M, int N, const {t} x[M][N], {t} s[M], {t} y[M][N])
{{
    for (int i = 0; i < M; i++) {{
        s[i] = 0;
        for (int j = 0; j < N; j++)
            s[i] += x[i][j];
    }}
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            y[i][j] = x[i][j] - s[i];
}}
"""


def _flat(rng: Random, t: str) -> str:
    return f"""void f(int M, const {t} *x, const {t} *w, {t} *y)
{{
    for (int i = 0; i < M; i++)
        for (int k = 0; k < 12; k++)
            y[i] += x[i * 12 + k] * w[k];
}}
"""


KINDS = {
    "product": _product, "batched": _batched, "map": _map, "stencil": _stencil, "inner": _inner,
    "reduction": _reduction, "best": _best, "convolution": _convolution, "two_stages": _two_stages,
    "flat": _flat,
}  # fmt: skip


def random_open_program(seed: int, largest: tuple[int, ...] = MOST) -> OpenProgram:
    """largest: the largest values that sizes may have."""
    rng = Random(f"open {seed}")
    kind = rng.choice(tuple(KINDS))
    text = KINDS[kind](rng, rng.choice(TYPES))
    names = [n for n in ("M", "N", "K") if f"int {n}" in text]
    opened = rng.sample(names, rng.randint(1, len(names)))
    least = 3 if kind == "inner" else 1
    defines: dict[str, str | int] = {}
    for name in names:
        multiple = rng.choice(MULTIPLES)
        low, high = rng.choice((least, least, least + 4)), max(rng.choice(largest), 3 * multiple, least + 6)
        defines[name] = (
            f"{low}..{high}:{multiple}"
            if name in opened
            else max(least, min(rng.choice(FIXED), max(largest)))
        )
    return OpenProgram(kind, Source(f"open_{seed}.c", text), defines)


def some_sizes(opens: tuple[OpenSize, ...], seed: int, count: int = SIZES) -> Iterator[dict[str, int]]:
    """The ends of the ranges, and sizes between them."""
    rng = Random(f"sizes {seed}")
    yield {o.name: o.least for o in opens}
    yield {o.name: o.most for o in opens}
    for _ in range(count - 2):
        yield {o.name: rng.randrange(o.least, o.most + 1, o.multiple) for o in opens}


def run_open_pair(seed: int, device: Device, machine: Machine) -> tuple[Outcome, str]:
    """The program of this seed by a random schedule, or by the default one for each third seed."""
    simulated = device.spec == "oclgrind"
    random = random_open_program(seed, SMALL if simulated else MOST)
    texts = f"// {random.defines}\n{random.source.text}"
    try:
        program = Pipeline().read(random.source, defines=random.defines)
        default = default_for(program, machine, device.target)
        schedule = default
        if seed % 3:
            text = random_schedule(program, machine, seed)
            texts += text
            schedule = parse_schedule(Source(f"open_{seed}.mdh", text))
        plan = check(program, schedule, machine, device.target, default=default)
    except Failed as failed:
        return rejected(failed), texts
    return run_at_sizes(plan, random, device, seed), f"{texts}\n{plan.text}"


def run_at_sizes(plan: Plan, random: OpenProgram, device: Device, seed: int) -> Outcome:
    """Builds once and runs at some sizes: the first outcome that is not `equal`, or that."""
    count = 3 if device.spec == "oclgrind" else SIZES
    return run_at(plan, random, device, seed, some_sizes(plan.program.opens, seed, count))


def run_at(
    plan: Plan, random: OpenProgram, device: Device, seed: int, points: Iterable[dict[str, int]]
) -> Outcome:
    """The same at these sizes."""
    try:
        built = device.build(emit(lower(plan), plan.program))
        for n, sizes in enumerate(points):
            program = read_program(random.source, defines={**random.defines, **sizes})
            same_shapes(at_sizes(plan.program, sizes), program)
            arrays = random_arrays(program, seed + n, "exact" if n % 2 == 0 else "random", {})
            before = drawn(program, arrays, {})
            held = {name: guarded(a) for name, a in before.arrays.items()}
            typed = {s.name: numpy_dtype(s.dtype).type(s.size) for s in program.scalars}
            call = built.call({name: g.array for name, g in held.items()}, typed)
            call.poison()
            call.launch()
            outcome = judged(before, {name: g.array for name, g in held.items()})
            torn = [name for name, g in held.items() if not g.intact]
            if torn:
                outcome = Outcome("different", f"memory around {torn} was written")
            if outcome.kind != "equal":
                return Outcome(outcome.kind, f"{sizes}: {outcome.detail}")
    except Failed as failed:
        return Outcome("report", "; ".join(f"{d.code}: {d.headline}" for d in failed.diagnostics)[:600])
    return Outcome("equal")


def run_table(random: OpenProgram, table: Table, device: Device, seed: int, count: int) -> Outcome:
    """Builds the cases of a table and runs them at the ends of their ranges, and at some sizes of all."""
    whole = Pipeline().read(random.source, defines=random.defines)
    points = [
        {r.name: n for r, n in zip(table.ranges(case), ends, strict=True)}
        for case in table.cases
        for ends in product(*({r.least, r.most} for r in table.ranges(case)))
    ]
    points += some_sizes(whole.opens, seed, count)
    for case in table.cases:
        program = Pipeline().read(random.source, defines=random.defines, ranges=table.ranges(case))
        plan = Pipeline().check(program, table.alone(case), device.machine, device.target).plan
        mine = [
            point for n, point in enumerate(points) if table.at(point) is case and point not in points[:n]
        ]
        if mine:
            outcome = run_at(plan, random, device, seed, mine)
            if outcome.kind != "equal":
                return outcome
    return Outcome("equal")


def same_shapes(closed: Program, read: Program) -> None:
    """The open program at some sizes is the program that is read for them."""
    assert closed.stages == read.stages
    assert [(b.name, b.shape) for b in closed.buffers] == [(b.name, b.shape) for b in read.buffers]
    assert closed.scalars == read.scalars
