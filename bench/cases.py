"""What the cases of a CPU and of a GPU share: a program at sizes, and the work that it does at least."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.source import Source

ROOT = Path(__file__).resolve().parent.parent
RECORDS = {"name": 5000, "birth": 20000, "sex": 2, "city": 300, "code": 9000}
"""Values of the record linkage's fields: rare names, two sexes."""


@dataclass(frozen=True, slots=True)
class Work:
    """flops: the operations that the C text asks for; 0: the case moves memory and is judged by that."""

    name: str
    program: str
    sizes: Mapping[str, int]
    flops: float

    @property
    def path(self) -> Path:
        return ROOT / "inputs_c" / f"{self.program}.c"


def program_of(case: Work) -> Program:
    source = Source(str(case.path), case.path.read_text(encoding="utf-8"))
    return read_program(source, defines=dict(case.sizes))


def written(program: Program) -> frozenset[str]:
    return frozenset[str]().union(*(s.written for s in program.stages))


def mnk(m: int, n: int, k: int) -> dict[str, int]:
    return {"M": m, "N": n, "K": k}


def ccsdt_sizes(n: int) -> dict[str, int]:
    """Of the n-th CCSD(T) contraction."""
    return dict(
        zip("ABCDEFG", (24, 16, 16, 16, 24, 16, 24) if n <= 3 else (24, 16, 16, 24, 16, 16, 24), strict=True)
    )


def linked() -> dict[str, int]:
    """The bounds of all fields of the record linkage."""
    return {**RECORDS, **{f"new_{k}": v for k, v in RECORDS.items()}}
