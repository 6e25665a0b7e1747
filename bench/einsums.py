"""Twenty einsums from the tests of opt_einsum and numpy: inner and outer products, traces, sums, transposes,
products of matrices with any side transposed, contractions of tensors, and three to five factors.

They were chosen before any of them was measured. Most are large enough that the work counts; some are small,
where the call does. All are of float.
"""

from collections.abc import Callable, Mapping
from math import prod
from typing import TypeVar

from bench.cases import Work
from mdh.frontend.einsum.path import path_of

C = TypeVar("C", bound=Work)
SIZES: tuple[tuple[str, Mapping[str, int]], ...] = (
    ("ab,ab->", {"a": 2048, "b": 2048}),
    ("ab,ba->", {"a": 2048, "b": 2048}),
    ("a,b->ab", {"a": 4096, "b": 4096}),
    ("aa->", {"a": 2048}),
    ("abc->cba", {"a": 256, "b": 256, "c": 256}),
    ("ab->b", {"a": 4096, "b": 4096}),
    ("ab,b->a", {"a": 4096, "b": 4096}),
    ("ab,bc->ac", {"a": 16, "b": 16, "c": 16}),
    ("ab,bc->ac", {"a": 1024, "b": 1024, "c": 1024}),
    ("ba,cb->ac", {"a": 512, "b": 512, "c": 512}),
    ("abc,acd->abd", {"a": 64, "b": 128, "c": 96, "d": 64}),
    ("abcd,cdef->abef", dict.fromkeys("abcdef", 24)),
    ("abcd,cdef->feba", dict.fromkeys("abcdef", 24)),
    ("a,ab,abc->abc", {"a": 64, "b": 256, "c": 512}),
    ("ab,bc,cd->ad", dict.fromkeys("abcd", 512)),
    ("eb,cb,fb->cef", {"e": 96, "c": 96, "f": 96, "b": 64}),
    ("ea,fb,gc,hd,abcd->efgh", dict.fromkeys("abcdefgh", 24)),
    ("aab,bc->ac", {"a": 256, "b": 256, "c": 256}),
    ("dba,ead,cad->bce", dict.fromkeys("abcde", 10)),
    ("ab,cd,ef->abcdef", dict.fromkeys("abcdef", 12)),
)


def einsums(make: Callable[..., C]) -> tuple[C, ...]:
    """make: a class of cases."""
    return tuple(
        make(
            _name(text, sizes), text, sizes, flops_of(text, sizes), text=text, language="einsum",
            touched=touched_bytes(text, sizes),
        )
        for text, sizes in SIZES
    )  # fmt: skip


def _name(text: str, sizes: Mapping[str, int]) -> str:
    """One extent stands for all, where they are the same."""
    every = list(sizes.values())
    return f"einsum {text} {'x'.join(map(str, every if len(set(every)) > 1 else every[:1]))}"


def touched_bytes(text: str, sizes: Mapping[str, int]) -> int:
    """Of the elements that take part: of a letter that stands twice, the diagonal."""
    return 4 * sum(prod(sizes[x] for x in set(one)) for one in text.replace("->", ",").split(","))


def flops_of(text: str, sizes: Mapping[str, int]) -> float:
    """Multiplications and additions, of the factors in pairs."""
    factors, _, result = text.partition("->")
    left, out = factors.split(","), 0
    for step in path_of(left, result, sizes):
        chosen = [left[place] for place in step]
        left = [one for place, one in enumerate(left) if place not in step]
        letters, needed = set("".join(chosen)), set(result).union(*left)
        kept = letters & needed
        each = len(chosen) - 1 + (kept != letters)
        out += each * prod(sizes[x] for x in letters)
        left.append("".join(sorted(kept)))
    return float(out)
