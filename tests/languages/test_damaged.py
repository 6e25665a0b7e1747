"""Damaged texts of the three languages are read or refused, soon and in good order."""

import time
from random import Random

import pytest

from mdh.diagnostics import Failed, render_text
from mdh.frontend.read import bound_text, language, read_bound, read_heading, read_syntax
from mdh.source import Source
from tests.languages import diesel_random, einsum_random, tc_cases
from tests.languages.damage import damaged, varied
from tests.languages.running import COUNT, Written, assert_same_in_c, read

LIMIT = 2.0
"""Seconds of this process that a text may take."""
ENDINGS = ("tc", "diesel", "einsum")
LISTINGS = {
    "tc": (
        "def mv(float(M,K) A, float(K) x) -> (C) {\n  C(i) = 0\n  C(i) += A(i,k) * x(k)\n}\n",
        "def maxpool(float(B,C,H,W) in) -> (out) {\n  out(b,c,i,j) max=! in(b,c, 2 * i + kw, 2 * j + kh)\n"
        "    where kw in 0:2, kh in 0:2\n}\n",
        "def f(int s, float(N) X, int(A,B) I) -> (Z) {\n  Z(i,j) = X(I(i,j)) > 0 ? X(s) : 0.5f\n}\n"
        "def g(float(N) X, int(N,N) I) -> (Y) {\n  Y = h(X)\n}\n"
        "def h(float(K) X) -> (Z) { Z(i) = exp(X(i)) }\n",
    ),
    "diesel": (
        "Params M, K, N;\nMatrix A(M,K);\nMatrix B(K,N);\nMatrix C(M,N);\nD = A * B;\nE = RELU(D + C');\n"
        "CodeGen(FLOAT, {E});\n",
    ),
    "einsum": ("bmk,bkn->bmn", "ij,jk,kl->il : double", "ii"),
}  # fmt: skip


def text(ending: str, seed: str) -> str:
    """A right text."""
    rng = Random(seed)
    if rng.random() < 0.3:
        return rng.choice(LISTINGS[ending])
    if ending == "tc":
        return tc_cases.case(seed).written.text
    if ending == "diesel":
        return diesel_random.case(seed).written.text
    return einsum_random.case(seed).written.text


def attempt(source: Source, rng: Random) -> None:
    """Reads all that there is to read. Raises Failed."""
    found = language(source)
    sizes: dict[str, str | int] = {}
    for n in found.size_spans(source):
        if rng.random() < 0.97:
            sizes[n] = rng.choice((1, 2, 3, 4, 4, 5)) if rng.random() < 0.97 else rng.choice(
                (0, -1, 2**31, 2**40, 2**62, 2**64, 2**130, "4", "x", "0x4", "", "1" * 5000)
            )  # fmt: skip
    functions = found.function_names(source)
    function = rng.choice(functions) if len(functions) > 1 else None
    read_heading(source, defines=sizes, function=function)
    found.free_sizes(source, defines=sizes, function=function)
    bound = bound_text(source, sizes)
    read_syntax(bound, function=function)
    read_bound(bound, function=function)


@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.parametrize("ending", ENDINGS)
def test_damaged(ending: str, seed: int) -> None:
    rng = Random(f"damaged {ending} {seed}")
    right = [text(ending, f"{ending} {seed} {n}") for n in range(3)]
    for _ in range(6):
        broken = damaged(rng, rng.choice(right), right)
        start = time.process_time()
        try:
            attempt(Source(f"x.{ending}", broken), rng)
        except Failed as failed:
            assert failed.diagnostics, broken[:2000]
            for d in failed.diagnostics:
                assert render_text(d)
                assert d.code[0] in {"tc": "TC", "diesel": "LC", "einsum": "EC"}[ending], (
                    f"{d.code}\n{broken[:2000]}"
                )
        except Exception as e:
            # whatever else a front end raises is a defect of it, and the text that shows it is needed
            raise AssertionError(f"{type(e).__name__}: {e}\n{broken[:3000]!r}") from e
        assert time.process_time() - start < LIMIT, broken[:3000]


@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.parametrize("ending", ENDINGS)
def test_varied(ending: str, seed: int) -> None:
    """Texts with other operators, numbers, types and names are refused, or are the same programs in C."""
    rng = Random(f"varied {ending} {seed}")
    for _ in range(3):
        broken = varied(rng, text(ending, f"varied {ending} {seed}"))
        source = Source(f"x.{ending}", broken)
        try:
            found = language(source)
            # an einsum's sizes go by their letters, and by names in C
            names = [
                n for n in found.size_spans(source) if ending != "einsum" or (len(n) == 1 and n in broken)
            ]
            functions = found.function_names(source)
            function = rng.choice(functions) if len(functions) > 1 else None
            written = Written(
                source.name, broken, {n: rng.choice((1, 2, 3, 4, 4, 5)) for n in names}, function
            )
            read(written)
        except Failed:
            continue
        assert_same_in_c(written)
