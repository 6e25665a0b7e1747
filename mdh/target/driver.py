"""`main.c`: fills the arrays, launches, checks against the plain C function, times.

The text below is C; a target adds how memory is moved, how the launcher is called and how a run is timed.
"""

from collections.abc import Iterator, Mapping
from math import ceil, floor, prod

from mdh.include import HEADER
from mdh.ir.affine import Affine, from_expr
from mdh.ir.dtype import EIGHTHS, integer_range
from mdh.ir.expr import Expr, Load, Var, loads, map_children
from mdh.ir.numerics import ByStage
from mdh.ir.program import Buffer, Program, Scalar, Stage
from mdh.ir.ranges import Range
from mdh.target.driver_bounds import SPREAD, allowed_spread, f32_tolerance
from mdh.target.driver_sizes import Sizes, open_main, open_sizes, size_variable
from mdh.target.header import parameters, scalar_type
from mdh.target.host import HostNames

BEGIN = r"""#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
"""

TABLE = r"""
enum type { F16, BF16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64 };
static const size_t width[] = { 2, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8 };
static const double tolerance[] = { 4e-3, 3e-2, SINGLE, 1e-12 };

/* bound > 0: the elements are indices from `least` on, that many */
struct array { const char *name; enum type type; size_t count; int64_t least; uint32_t bound; int written; };
static const struct array arrays[] = {
"""

CHECKS = r"""};
enum { ARRAYS = sizeof arrays / sizeof arrays[0] };

static void *host[ARRAYS], *expected[ARRAYS], *result[ARRAYS];

static size_t bytes(int a)
{
    return arrays[a].count * width[arrays[a].type];
}

static void *allocate(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return p;
}

static uint32_t drawn(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

/* small integers: sums of products stay exact, so that the order of a reduction does not show; where numbers
   divide or shift others, none is 0 or less */
static void fill(int a)
{
    static const uint16_t f16[] = { 0xc400, 0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200, 0x4400 };
    static const uint16_t bf16[] = { 0xc080, 0xc040, 0xc000, 0xbf80, 0, 0x3f80, 0x4000, 0x4040, 0x4080 };
    for (size_t i = 0; i < arrays[a].count; ++i) {
        const int k = POSITIVE ? 5 + (int)(drawn() % 4) : (int)(drawn() % 9);
        const int64_t v = arrays[a].bound ? arrays[a].least + (int64_t)(drawn() % arrays[a].bound) : k - 4;
        const int64_t u = arrays[a].bound || POSITIVE ? v : k;
        switch (arrays[a].type) {
@FILL@        case F16: ((uint16_t *)host[a])[i] = f16[k]; break;
        case BF16: ((uint16_t *)host[a])[i] = bf16[k]; break;
        case F32: ((float *)host[a])[i] = (float)v; break;
        case F64: ((double *)host[a])[i] = (double)v; break;
        case I8: ((int8_t *)host[a])[i] = (int8_t)v; break;
        case I16: ((int16_t *)host[a])[i] = (int16_t)v; break;
        case I32: ((int32_t *)host[a])[i] = (int32_t)v; break;
        case I64: ((int64_t *)host[a])[i] = v; break;
        case U8: ((uint8_t *)host[a])[i] = (uint8_t)u; break;
        case U16: ((uint16_t *)host[a])[i] = (uint16_t)u; break;
        case U32: ((uint32_t *)host[a])[i] = (uint32_t)u; break;
        case U64: ((uint64_t *)host[a])[i] = (uint64_t)u; break;
        }
    }
}

static double value(enum type type, const void *p, size_t i)
{
    uint16_t h;
    uint32_t w;
    float f;
    switch (type) {
@VALUE@    case F16:
        h = ((const uint16_t *)p)[i];
        if ((h >> 10 & 31) == 31)
            return h & 1023 ? (double)NAN : h >> 15 ? -(double)INFINITY : (double)INFINITY;
        f = (float)(h >> 10 & 31 ? ldexp(1024 + (h & 1023), (h >> 10 & 31) - 25) : ldexp(h & 1023, -24));
        return h >> 15 ? -f : f;
    case BF16:
        w = (uint32_t)((const uint16_t *)p)[i] << 16;
        memcpy(&f, &w, sizeof f);
        return f;
    case F32: return ((const float *)p)[i];
    case F64: return ((const double *)p)[i];
    default: return 0;
    }
}

@SPREAD@
/* elements that differ by more than rounding; the worst relative error goes to *worst */
static size_t wrong(int a, double *worst, int said)
{
    const enum type type = arrays[a].type;
    size_t count = 0;
    for (size_t i = 0; i < arrays[a].count; ++i) {
        const size_t at = i * width[type];
        if (!memcmp((char *)expected[a] + at, (char *)result[a] + at, width[type]))
            continue;
        const double want = value(type, expected[a], i), got = value(type, result[a], i);
        const double error = type > F64 ? 1 : fabs(got - want) / fmax(1, fabs(want));
        if (isnan(want) && isnan(got) && type <= F64)
            continue;
        const double room = spread[a] ? ROOM * spread[a][i] : 0;
        if (type > F64 || !(error <= tolerance[type] || fabs(got - want) <= room)) {
            if (!count++ && said)
                fprintf(stderr, "%s[%zu] (flat) is wrong: %.*g, expected %.*g\n",
                        arrays[a].name, i, type == F64 ? 17 : 9, got, type == F64 ? 17 : 9, want);
        }
        if (error > *worst)
            *worst = error;
    }
    return count;
}

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
"""

EIGHTHS_TABLE = (
    ("{ F16,", "{ F8E4M3, F8E5M2, F16,"),
    ("width[] = { 2,", "width[] = { 1, 1, 2,"),
    ("tolerance[] = { 4e-3,", "tolerance[] = { 0.13, 0.26, 4e-3,"),
)
"""What programs with 8-bit floats have besides, by mdh.h."""
EIGHTHS_FILL = """\
        case F8E4M3: ((fp8_e4m3 *)host[a])[i] = fp8_e4m3_from_float(POSITIVE ? k - 4 : k % 3 - 1); break;
        case F8E5M2: ((fp8_e5m2 *)host[a])[i] = fp8_e5m2_from_float(POSITIVE ? k - 4 : k % 3 - 1); break;
"""
EIGHTHS_VALUE = """\
    case F8E4M3: return fp8_e4m3_to_float(((const fp8_e4m3 *)p)[i]);
    case F8E5M2: return fp8_e5m2_to_float(((const fp8_e5m2 *)p)[i]);
"""

MAIN = r"""
int main(int argc, char **argv)
{
    int repeat = 10, check = 1;
    for (int i = 1; i < argc; ++i) {
        if (!strcmp(argv[i], "--repeat") && i + 1 < argc)
            repeat = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--no-check"))
            check = 0;
        else {
            fprintf(stderr, "usage: %s [--repeat N] [--no-check]\n", argv[0]);
            return 2;
        }
    }
    if (check && lacking()) {
        fprintf(stderr, "the result is not checked: the C compiler that built this has no %s\n", lacking());
        check = 0;
    }
    open_device();
    for (int a = 0; a < ARRAYS; ++a) {
        host[a] = allocate(bytes(a));
        fill(a);
        upload(a);
    }
    must(launch());
    finish();
    double worst = 0;
    size_t bad = 0;
    if (check) {
        for (int a = 0; a < ARRAYS; ++a) {
            expected[a] = allocate(bytes(a));
            result[a] = allocate(bytes(a));
            memcpy(expected[a], host[a], bytes(a));
        }
        reference();
        for (int a = 0; a < ARRAYS; ++a)
            if (arrays[a].written) {
                download(a);
                bad += wrong(a, &worst, 0);
            }
        if (bad) {
            const size_t far = bad;
            measure_spread();
            bad = 0;
            for (int a = 0; a < ARRAYS; ++a)
                if (arrays[a].written)
                    bad += wrong(a, &worst, 1);
            if (bad < far)
                fprintf(stderr, "%zu elements differ as the C function's own do when its arguments move by"
                                " their last place\n", far - bad);
        }
    }
    if (bad) {
        printf("%s: WRONG, %zu elements differ from the C function\n", NAME, bad);
        return 4;
    }
    double *times = allocate((size_t)(repeat > 0 ? repeat : 1) * sizeof *times);
    for (int i = 0; i < repeat; ++i)
        times[i] = timed_launch();
    printf("%s: %s (worst error %.2g)", NAME, check ? "ok" : "not checked", worst);
    if (repeat > 0) {
        qsort(times, (size_t)repeat, sizeof *times, by_value);
        printf(", %d runs, median %.6f ms, least %.6f ms", repeat, 1e3 * times[repeat / 2], 1e3 * times[0]);
    }
    printf("\n");
    return 0;
}
"""


ELEMENT = "@"
"""Stands for an element of an index array; no name in C is like it."""


def driver(
    program: Program, host: HostNames, before: str, device: str, numerics: ByStage = (), at: Sizes = None
) -> str:
    """main.c: `before` holds the target's includes; `device` defines open_device, upload, download, launch,
    finish, timed_launch and must. at: the open sizes of a run that gives none; None: the largest ones."""
    rows = []
    for p in parameters(program):
        if isinstance(p, Buffer):
            written = int(any(p.name in s.written for s in program.stages) or not p.const)
            kind, count = p.dtype.name.upper(), prod(p.shape)
            least, below = indices(program, p)
            rows.append(f'    {{ "{p.name}", {kind}, {count}u, {least}, {below}, {written} }},\n')
    positive = int(program.has_integer("/", "%", "<<", ">>"))
    numbers = f"POSITIVE = {positive}, ROOM = {allowed_spread(program)}"
    naming = f'\n#define NAME "{program.name}"\nenum {{ {numbers} }};\n'
    eighths = needs_header(program)
    table = TABLE
    for old, new in EIGHTHS_TABLE if eighths else ():
        table = table.replace(old, new)
    checks = CHECKS.replace("@FILL@", EIGHTHS_FILL if eighths else "")
    if program.opens:
        table = table.replace("static const struct array arrays", "static struct array arrays")
    return (
        BEGIN
        + (f'#include "{HEADER}"\n' if eighths else "")
        + before
        + naming
        + table.replace(
            "SINGLE", f"{f32_tolerance(program, 1 if eighths else 16, numerics):.2g}".replace("e-0", "e-")
        )
        + "".join(rows)
        + checks.replace("@VALUE@", EIGHTHS_VALUE if eighths else "").replace("@SPREAD@", SPREAD)
        + open_sizes(program, at)
        + _reference(host.function, program)
        + device
        + (open_main(MAIN, program) if program.opens else MAIN)
    )


def needs_header(program: Program) -> bool:
    """Whether main.c converts numbers by the header of mdh."""
    return any(b.dtype in EIGHTHS for b in program.buffers)


def size_checks(program: Program, host: HostNames) -> list[str]:
    """Lines with which a launcher refuses other sizes than those that its kernels are compiled for."""
    return [
        f"    if ({_refused(p, host[p.name])})\n        return -1;"
        for p in parameters(program)
        if isinstance(p, Scalar) and p.size is not None
    ]


def _refused(p: Scalar, name: str) -> str:
    """The condition in C that the kernels do not take the value."""
    if p.open is None:
        return f"{name} != {p.size}"
    multiple = f" || {name} % {p.open.multiple}" if p.open.multiple > 1 else ""
    return f"{name} < {p.open.least} || {name} > {p.open.most}{multiple}"


def call_arguments(program: Program, array: str) -> list[str]:
    """The C function's arguments: `array[i]` for arrays, bound sizes, 2 for other scalars."""
    out = []
    count = 0
    for p in parameters(program):
        if isinstance(p, Scalar):
            given = size_variable(p.name) if p.open is not None else str(p.size)
            out.append(given if p.size is not None else "2")
        else:
            out.append(f"{array}[{count}]")
            count += 1
    return out


def indices(program: Program, b: Buffer) -> tuple[int, int]:
    """For an index array: the least value that keeps every subscript inside, and how many follow.

    (0, 0) for other arrays.

    A subscript that is no affine function of the element (`k[i] & 15`) takes indices of its own array.
    """
    low, high = (-(2**24), 2**24) if b.dtype.is_float else integer_range(b.dtype)
    used = False
    for stage in program.stages:
        box = {d.name: (0, d.extent - 1) for d in stage.dims}
        for buffer, index in _accesses(stage, program):
            for e, extent in zip(index, program.buffer_of[buffer].shape, strict=True):
                if not any(x.buffer == b.name for x in loads(e)):
                    continue
                used = True
                least, most = _taken(e, b.name, extent, box)
                low, high = max(low, least), min(high, most)
    return (low, min(high - low + 1, 2**31)) if used and low <= high else (0, 0)


def _taken(e: Expr, name: str, extent: int, box: Mapping[str, Range]) -> Range:
    """The elements of `name` for which `e` is from 0 to extent - 1 wherever the dims are in `box`."""
    form = from_expr(_with_element(e, name))
    if form is None or not form.names <= {ELEMENT, *box}:
        return 0, extent - 1
    factor = form.coefficient(ELEMENT)
    low, high = (form + Affine.var(ELEMENT).scale(-factor)).bounds(box)
    if factor == 0 or high - low >= extent:
        return 0, extent - 1
    ends = sorted(((-low) / factor, (extent - 1 - high) / factor))
    return ceil(ends[0]), floor(ends[1])


def _with_element(e: Expr, name: str) -> Expr:
    if isinstance(e, Load):
        return Var(ELEMENT) if e.buffer == name else e
    return map_children(e, lambda c: _with_element(c, name))


def _accesses(stage: Stage, program: Program) -> Iterator[tuple[str, tuple[Expr, ...]]]:
    for x in (x for e in stage.expressions() for x in loads(e)):
        if x.buffer in program.buffer_of:
            yield x.buffer, x.index
    for o in (o for r in stage.results for o in r.outputs):
        yield o.buffer, o.index


def reference_types(program: Program) -> list[str]:
    """Of the parameters of the C function that judges, as the driver calls it."""
    return ["void *" if isinstance(p, Buffer) else scalar_type(p.dtype) for p in parameters(program)]


def _reference(name: str, program: Program) -> str:
    types = reference_types(program)
    return f"""
extern const char *const {name}_lacks; /* a type that reference.c needs and its compiler has not */
void {name}_reference({", ".join(types)});

static const char *lacking(void)
{{
    return {name}_lacks;
}}

static void reference(void)
{{
    {name}_reference({", ".join(call_arguments(program, "expected"))});
}}
"""
