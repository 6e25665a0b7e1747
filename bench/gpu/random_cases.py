"""Cases of random sizes, most of which no schedule ships for: what users meet who tune nothing.

The sizes are even on a logarithmic scale, lest nearly all be large. Each kind draws from a seed of its own.
"""

import random
from functools import partial
from math import prod

from bench.cases import contraction_text, mnk
from bench.gpu.cases import DOUBLE, LAYER, SINGLE, Case
from mdh.reproduce.sizes import COUNT, SEED, drawn, random_sizes

RANDOM, RELU, CONVOLUTIONS, CONTRACTIONS = COUNT, 20, 30, 30
_ANY = (24, 8192)
"""Of products whose sizes are multiples of nothing."""
_CONVOLUTION, _CONTRACTION = 4e10, 2e11
"""Operations of the largest ones."""
_ELEMENTS = 1 << 26
"""Of the largest array of a contraction."""


def random_cases(count: int) -> tuple[Case, ...]:
    """Products of random sizes in both precisions, the first RELU of them also as dense layers; products of
    any integer sizes; convolutions and contractions in fp32."""
    out = list[Case]()
    for number, (m, n, k) in enumerate(random_sizes()[:count]):
        label, sizes = f"{number:02} {m}x{n}x{k}", mnk(m, n, k)
        work = partial(Case, sizes=sizes, flops=2.0 * m * n * k, limit=60.0)
        out.append(work(f"random fp32 {label}", "matmul_init", schedules=SINGLE))
        out.append(work(f"random fp64 {label}", "matmul_double", schedules=DOUBLE))
        if number < RELU:
            out.append(work(f"random relu {label}", "matmul_bias_relu", schedules=LAYER))
    out += any_products()[:count]
    return (*out, *convolutions()[:count], *contractions()[:count])


def any_products() -> list[Case]:
    """Of any integer sizes, by the derived schedule."""
    rng, out = random.Random(SEED + 1), list[Case]()
    for number in range(RANDOM):
        m, n, k = (round(drawn(rng, *_ANY)) for _ in range(3))
        name = f"random any {number:02} {m}x{n}x{k}"
        out.append(Case(name, "matmul_init", mnk(m, n, k), 2.0 * m * n * k, limit=60.0))
    return out


def convolutions() -> list[Case]:
    """Layers with channels last. The channels of every second one are multiples of 8, of the others of
    nothing."""
    rng, out = random.Random(SEED + 2), list[Case]()
    while len(out) < CONVOLUTIONS:
        step = 8 if len(out) % 2 == 0 else 1
        batch, side = round(drawn(rng, 1, 32)), round(drawn(rng, 7, 112))
        channels, filters = (max(1, round(drawn(rng, 3, 512) / step)) * step for _ in range(2))
        window, stride = rng.choice((1, 3, 3, 5, 7)), rng.choice((1, 1, 2))
        sizes = {"N": batch, "H": side, "W": side, "C": channels, "K": filters, "R": window, "S": window}
        flops = 2.0 * batch * side**2 * channels * filters * window**2
        if flops <= _CONVOLUTION:
            name = (
                f"random conv {len(out):02} {batch}x{side}x{side}x{channels} to {filters} {window}x{window}"
            )
            name += "/2" if stride == 2 else ""
            out.append(Case(name, "conv2d", {**sizes, "STRIDE": stride}, flops, limit=60.0))
    return out


def contractions() -> list[Case]:
    """Of two tensors: one to three indices of the result from each, one or two that are summed, in any order
    everywhere."""
    rng, out = random.Random(SEED + 3), list[Case]()
    while len(out) < CONTRACTIONS:
        counts = rng.choice((1, 2, 2, 3)), rng.choice((1, 2, 2, 3)), rng.choice((1, 1, 2))
        names = iter("abcdefgh")
        rows, columns, summed = ([next(names) for _ in range(n)] for n in counts)
        sizes = {
            name: max(2, round(drawn(rng, *side) ** (1 / len(group))))
            for group, side in ((rows, (64, 4096)), (columns, (64, 4096)), (summed, (16, 1024)))
            for name in group
        }
        left, right, result = (
            "".join(rng.sample(g, len(g))) for g in (rows + summed, columns + summed, rows + columns)
        )
        flops = 2.0 * prod(sizes.values())
        if (
            flops <= _CONTRACTION
            and max(prod(sizes[n] for n in a) for a in (left, right, result)) <= _ELEMENTS
        ):
            letters = f"{left},{right}->{result}"
            name = f"random contraction {len(out):02} {letters} {'x'.join(map(str, sizes.values()))}"
            text = contraction_text(left, right, result, {n: n.upper() for n in sizes})
            upper = {n.upper(): size for n, size in sizes.items()}
            out.append(Case(name, "contraction", upper, flops, text=text, letters=letters, limit=60.0))
    return out
