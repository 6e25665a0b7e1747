"""`mdh.h`, the header of types that C has no names for. C compilers read it, the front end knows it."""

from pathlib import Path

HEADER = "mdh.h"
FOLDER = Path(__file__).parent
"""The folder that a C compiler is given by `-I`."""


def header_text() -> str:
    """The header, for folders that are built without mdh."""
    return (FOLDER / HEADER).read_text(encoding="utf-8")
