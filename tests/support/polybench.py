"""The thirty computations of PolyBench 4.2.1 that `inputs_c/polybench` holds, at small sizes.

They are written anew, as one C function each, from what they compute.
"""

import re
from pathlib import Path

from mdh.source import Source

FOLDER = Path(__file__).resolve().parents[2] / "inputs_c" / "polybench"
PROGRAMS = {
    path.stem: Source(path.name, path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.c"))
}
_SMALL = {
    "N": 9, "M": 7, "K": 5, "T": 3, "NI": 6, "NJ": 7, "NK": 5, "NL": 4, "NM": 3, "NR": 3, "NQ": 4, "NP": 5,
    "W": 9, "H": 7, "NX": 9, "NY": 7,
}  # fmt: skip


def small(name: str) -> dict[str, int]:
    """Values for the sizes of a program, with which the interpreter needs little time."""
    sizes = re.findall(r"#define (\w+)", PROGRAMS[name].text)
    return {size: _SMALL[size] for size in sizes}


def without_directives(text: str) -> str:
    """A C text without its comments, directives of OpenMP, `restrict` and white space."""
    text = re.sub(r"//.*|#pragma omp .*|\brestrict\b", "", text)
    return re.sub(r"\s+", "", text)
