"""How far results may be from those of the C function in `main.c`.

Where one differs by more than the rounding of a few operations, `main.c` asks how far the C function's own
results move when its arguments move by their last place.

A sum that builds over the turns of a loop may be as inexact as its terms are large, while it is small itself.
No bound that is relative to the result fits it. The judge of `mdh run` follows all errors through the
program; a folder has only the C function, and measures what it does.
"""

from math import prod, sqrt

from mdh.ir.numerics import OWN, ByStage
from mdh.ir.program import DimKind, Program

SINGLE = 2e-5
"""The relative error that f32 is allowed."""
SPREAD = r"""
static void reference(void);

/* how far each element of the C function's results moves when its float arguments move by their last place;
   set where a result differs by more than the rounding of a few operations */
static double *spread[ARRAYS];
enum { MOVED = 4 };

static void move(int a, void *p, size_t i)
{
    const int up = (int)(drawn() & 1);
    uint16_t h;
    float f;
    double d;
    switch (arrays[a].type) {
    case F16:
    case BF16:
        h = ((uint16_t *)p)[i];
        if (h & 0x7fff)
            ((uint16_t *)p)[i] = (uint16_t)(up ? h + 1 : h - 1);
        break;
    case F32:
        f = ((float *)p)[i];
        if (f != 0)
            ((float *)p)[i] = nextafterf(f, up ? INFINITY : -INFINITY);
        break;
    case F64:
        d = ((double *)p)[i];
        if (d != 0)
            ((double *)p)[i] = nextafter(d, up ? INFINITY : -INFINITY);
        break;
    default: break;
    }
}

static void measure_spread(void)
{
    void *right[ARRAYS];
    memcpy(right, expected, sizeof right);
    for (int a = 0; a < ARRAYS; ++a) {
        expected[a] = allocate(bytes(a));
        if (arrays[a].written && arrays[a].type <= F64) {
            spread[a] = allocate(arrays[a].count * sizeof(double));
            for (size_t i = 0; i < arrays[a].count; ++i)
                spread[a][i] = 0;
        }
    }
    for (int k = 0; k < MOVED; ++k) {
        for (int a = 0; a < ARRAYS; ++a) {
            memcpy(expected[a], host[a], bytes(a));
            for (size_t i = 0; !arrays[a].bound && i < arrays[a].count; ++i)
                move(a, expected[a], i);
        }
        reference();
        for (int a = 0; a < ARRAYS; ++a)
            for (size_t i = 0; spread[a] && i < arrays[a].count; ++i) {
                const enum type type = arrays[a].type;
                const double by = fabs(value(type, expected[a], i) - value(type, right[a], i));
                if (by > spread[a][i])
                    spread[a][i] = by;
            }
    }
    for (int a = 0; a < ARRAYS; ++a)
        free(expected[a]);
    memcpy(expected, right, sizeof right);
}
"""


def allowed_spread(program: Program) -> int:
    """How often results may differ by the measured spread: the errors of the longest sum, in units of the
    last place of its terms, as the judge counts them."""
    count = 1
    for n, stage in enumerate(program.stages):
        terms = prod(d.extent for d in stage.dims if d.kind is not DimKind.CC)
        count = max(count, terms * prod(x.trips for x in program.loops if x.first <= n <= x.last))
    return int(4 * sqrt(count) + 16)


def f32_tolerance(program: Program, term: int, numerics: ByStage) -> float:
    """The tolerance of f32. term: the largest one of sums of products, as `fill` draws; most are exact."""
    known = dict(numerics)
    allowed = SINGLE
    for stage in program.stages:
        own = known.get(stage.name, OWN)
        count = prod(d.extent for d in stage.dims if d.kind is DimKind.PW)
        cut = own.sum_error(count) if term * count > own.exact_sum(24) else 0.0
        allowed = max(allowed, SINGLE + 4 * (own.product_error + cut))
    return allowed
