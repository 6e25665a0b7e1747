"""The programs that are sums of products, as their index letters: what Halide and TVM are told of them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bench.cases import ccsdt_letters
from bench.cpu.data import Arrays

Subscript = tuple[tuple[int, str], ...]
"""A sum of letters, each with its factor: `2p+r` is ((2, "p"), (1, "r"))."""
_TERM = re.compile(r"(\d*)([a-z])")


@dataclass(frozen=True, slots=True)
class Access:
    array: str
    subscripts: tuple[Subscript, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """out[kept] is the sum over `summed` of the product of `factors`; extents: of every letter.

    bias: an array of the last kept letter that is added at the end, before what is below 0 becomes 0.
    """

    out: str
    kept: str
    summed: str
    extents: Mapping[str, int]
    factors: tuple[Access, Access]
    bias: str | None = None


_SPELT = {
    "matmul_init": "C[i,j] A[i,k] B[k,j]",
    "matmul_double": "C[i,j] A[i,k] B[k,j]",
    "matmul_bias_relu": "C[i,j] A[i,k] B[k,j]",
    "matmul_t": "C[j,i] A[k,i] B[j,k]",
    "batched_matmul": "C[b,i,j] A[b,i,k] B[b,k,j]",
    "batched_matmul_t": "C[b,i,j] A[b,i,k] B[b,j,k]",
    "matvec": "C[i] A[i,k] B[k]",
    "dot": "C[i] A[k] B[k]",
    "conv2d": "O[n,p,q,k] I[n,{0}p+r,{0}q+s,c] F[k,r,s,c]",
    "conv2d_56": "O[n,p,q,k] I[n,p+r,q+s,c] F[k,r,s,c]",
    "grouped_conv": "O[n,g,f,p,q] I[n,g,c,p+r,q+s] weight[g,f,c,r,s]",
    "filter5x5": "O[p,q] I[p+r,q+s] F[r,s]",
}


def sum_of(program: str, a: Arrays) -> Sum | None:
    """None for programs that are no sum of products."""
    if program.startswith("ccsdt"):
        factors, _, kept = ccsdt_letters(program).partition("->")
        left, _, right = factors.partition(",")
        text = f"X[{','.join(kept)}] lhs[{','.join(left)}] rhs[{','.join(right)}]"
    elif program in _SPELT:
        text = _SPELT[program].format(_stride(a) if program == "conv2d" else 1)
    else:
        return None
    out, *factors_ = (_access(word) for word in text.split())
    extents = {
        terms[0][1]: a[access.array].shape[axis]
        for access in (out, *factors_)
        for axis, terms in enumerate(access.subscripts)
        if len(terms) == 1
    }
    kept = "".join(terms[0][1] for terms in out.subscripts)
    summed = "".join(letter for letter in extents if letter not in kept)
    bias = "bias" if program == "matmul_bias_relu" else None
    return Sum(out.array, kept, summed, extents, (factors_[0], factors_[1]), bias)


def _stride(a: Arrays) -> int:
    return int((a["I"].shape[1] - a["F"].shape[1] + 1) // a["O"].shape[1])


def _access(word: str) -> Access:
    array, _, inside = word.rstrip("]").partition("[")
    return Access(array, tuple(_subscript(s) for s in inside.split(",")))


def _subscript(text: str) -> Subscript:
    return tuple((int(factor or 1), letter) for factor, letter in _TERM.findall(text))
