"""Where peers keep what took them long to find, and the names under which they find it again."""

import os
import tempfile
from pathlib import Path

from bench.cpu.data import Arrays


def cache_folder() -> Path:
    """`$MDH_BENCH_CACHE`, else mdh-bench among the user's caches."""
    given = os.environ.get("MDH_BENCH_CACHE", "")
    if given:
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME", "")
    try:
        folder = Path(home) if os.path.isabs(home) else Path.home() / ".cache"
    except RuntimeError:
        folder = Path(tempfile.gettempdir())
    return folder / "mdh-bench"


def key_of(program: str, arrays: Arrays) -> str:
    """The program and the sizes that it has here."""
    return " ".join([program, *("x".join(map(str, v.shape)) for v in arrays.values())])
