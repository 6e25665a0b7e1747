"""What the cases of a CPU and of a GPU share: a program at sizes, and the work that it does at least."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mdh.frontend.constant_arrays import constant_text
from mdh.frontend.read import bound_text, read_bound
from mdh.ir.program import Program
from mdh.source import Source

ROOT = Path(__file__).resolve().parent.parent
RECORDS = {"name": 5000, "birth": 20000, "sex": 2, "city": 300, "code": 9000}
"""Values of the record linkage's fields: rare names, two sexes."""


@dataclass(frozen=True, slots=True)
class Contraction:
    """letters: of the indices, as einsum writes them. factors, result: names of the arrays."""

    letters: str
    factors: tuple[str, ...]
    result: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A random array that programs have as a constant. share: of its elements that are not zero."""

    shape: tuple[int, ...]
    share: float


@dataclass(frozen=True, slots=True)
class Work:
    """flops: the operations that the text asks for; 0: the case moves memory and is judged by that.

    text: of the case's own, where its program is none of `inputs_c`; of an einsum, the program is the text.
    language: the ending of the program's file. letters: of the indices of a contraction in C of `lhs` and
    `rhs`, as einsum writes them. constants: array parameters that are constants for mdh.
    """

    name: str
    program: str
    sizes: Mapping[str, int]
    flops: float
    text: str = field(default="", kw_only=True)
    language: str = field(default="c", kw_only=True)
    letters: str = field(default="", kw_only=True)
    constants: Mapping[str, Constant] = field(default_factory=dict, kw_only=True)

    @property
    def path(self) -> Path:
        return ROOT / "inputs_c" / f"{self.program}.{self.language}"

    @property
    def contraction(self) -> Contraction | None:
        """None for other programs than contractions of tensors."""
        if self.letters:
            return Contraction(self.letters, ("lhs", "rhs"), "X")
        return contraction_of(self.program)


def program_of(case: Work) -> Program:
    text = case.text or case.path.read_text(encoding="utf-8")
    arrays = {name: constant_text(array) for name, array in constants_of(case).items()}
    return read_bound(bound_text(Source(str(case.path), text), {**case.sizes, **arrays}))


def constants_of(case: Work) -> dict[str, np.ndarray[Any, Any]]:
    """The same arrays in every process: numbers from 0 to 1, and zeros."""
    rng = np.random.default_rng(25)
    return {
        name: np.where(rng.random(c.shape) < c.share, rng.random(c.shape), 0).astype(np.float32)
        for name, c in case.constants.items()
    }


def giles(size: int, *, rows: bool = False) -> dict[str, Any]:
    """What the cases of the sparse bilinear form share: D = 25, a quarter of the constants are not zero."""
    d, share = 25, 0.25
    left = round(share * d**3) + d * d
    return {
        "name": f"giles {'rows ' if rows else ''}2^{size.bit_length() - 1}",
        "program": "giles_rows" if rows else "giles", "sizes": {"N": size}, "flops": 2.0 * left * size,
        "constants": {"C": Constant((d, d, d), share)},
    }  # fmt: skip


def contraction_of(program: str) -> Contraction | None:
    """Of a CCSD(T) contraction, of the sparse bilinear form, or of the text of an einsum."""
    if program.startswith("ccsdt"):
        return Contraction(ccsdt_letters(program), ("lhs", "rhs"), "X")
    if program.startswith("giles"):
        letters = "nk,nl,jkl->nj" if program == "giles_rows" else "kn,ln,jkl->jn"
        return Contraction(letters, ("A", "B", "C"), "O")
    if "->" in program:
        count = program.count(",") + 1
        return Contraction(program, tuple(f"in{n}" for n in range(count)), "out")
    return None


def arrays_of(program: Program) -> tuple[str, ...]:
    """The parameters that are arrays; others are numbers."""
    return tuple(name for name in program.params if name in program.buffer_of)


def written(program: Program) -> frozenset[str]:
    """The arrays that hold results."""
    return frozenset[str]().union(*(s.written for s in program.stages)).intersection(program.params)


def mnk(m: int, n: int, k: int) -> dict[str, int]:
    return {"M": m, "N": n, "K": k}


def ccsdt_sizes(n: int) -> dict[str, int]:
    """Of the n-th CCSD(T) contraction."""
    return dict(
        zip("ABCDEFG", (24, 16, 16, 16, 24, 16, 24) if n <= 3 else (24, 16, 16, 24, 16, 16, 24), strict=True)
    )


def ccsdt_letters(program: str) -> str:
    """The index letters of a CCSD(T) contraction, as einsum writes them."""
    left, right = {
        "1": ("gdab", "efgc"), "2": ("gdac", "efgb"), "3": ("gdbc", "efga"), "4": ("geab", "dfgc"),
        "5": ("geac", "dfgb"), "6": ("gebc", "dfga"), "7": ("gfab", "degc"), "8": ("gfbc", "dega"),
    }[program.split("_")[1]]  # fmt: skip
    return f"{left},{right}->abcdef"


def contraction_text(
    left: str, right: str, result: str, extents: Mapping[str, str | int], kind: str = "float"
) -> str:
    """A C function that contracts `lhs` and `rhs` to `X`, its loops in the order of the result's indices.

    left, right, result: letters of the indices of each. extents: what stands for each in the C text.
    """

    def array(names: str) -> str:
        return "".join(f"[{extents[n]}]" for n in names)

    def element(names: str) -> str:
        return "".join(f"[{n}]" for n in names)

    def loops(names: str) -> str:
        return " ".join(f"for (int {n} = 0; {n} < {extents[n]}; {n}++)" for n in names)

    summed = "".join(n for n in left if n not in result)
    target, factors = f"X{element(result)}", f"lhs{element(left)} * rhs{element(right)}"
    arrays = f"const {kind} lhs{array(left)}, const {kind} rhs{array(right)}, {kind} X{array(result)}"
    inner = f"{target} = 0;\n    {loops(summed)} {target} += {factors};"
    return f"void contraction({arrays}) {{\n  {loops(result)} {{\n    {inner}\n  }}\n}}\n"


def linked() -> dict[str, int]:
    """The bounds of all fields of the record linkage."""
    return {**RECORDS, **{f"new_{k}": v for k, v in RECORDS.items()}}
