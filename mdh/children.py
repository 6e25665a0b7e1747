"""Processes of this Python that run a module of this very mdh.

`python -m` looks for modules in the current folder first: in a folder that others can write to, their
`numpy.py` would run. Here it does not look there.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

_ABOVE = Path(__file__).resolve().parent.parent
"""Where a child finds this mdh."""


def module_command(module: str, *words: str) -> tuple[str, ...]:
    return sys.executable, "-P", "-m", module, *words


def module_environment(base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """`base`, in which the child finds this mdh, also where this process found it in the current folder."""
    rest = base.get("PYTHONPATH", "")
    return {**base, "PYTHONPATH": os.pathsep.join(p for p in (str(_ABOVE), rest) if p)}
