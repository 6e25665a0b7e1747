"""Writes the pictures of the README and of the tutorial into mdh/docs/pictures."""

import os
import sys
import tempfile

from mdh.cli.main import run
from tests.support.source_tree import PACKAGE

FOLDER = PACKAGE / "docs" / "pictures"
SIZES = ["-D", "M=192", "-D", "N=256", "-D", "K=256"]
"""Of arrays so small that the tiles can be seen."""
PICTURES = {
    "matmul.svg": ["matmul", "--schedule", "matmul/generic-cpu/base", *SIZES],
    **{f"step{n}.svg": ["matmul/matmul.c", "--schedule", f"matmul/step{n}.mdh", *SIZES] for n in range(1, 8)},
}
"""File -> the words of `mdh explain`, in a folder where `mdh new matmul --steps` ran."""


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        codes = [run(["new", "matmul", "--steps"])]
        codes += [run(["explain", *words, "--svg", str(FOLDER / name)]) for name, words in PICTURES.items()]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
