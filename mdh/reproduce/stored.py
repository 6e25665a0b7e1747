"""Results that `mdh reproduce --json` printed, read back."""

import json
from collections.abc import Iterable
from pathlib import Path

from mdh.results.reproduction import Reproduction
from mdh.schema import convert


def read_results(paths: Iterable[Path]) -> list[Reproduction]:
    """In the order of the files. Raises SchemaError for a file that is none."""
    texts = (json.loads(path.read_text(encoding="utf-8")) for path in paths)
    return [convert(text["result"], Reproduction) for text in texts]
