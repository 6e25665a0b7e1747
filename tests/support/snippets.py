"""The commands and the Python of a guide, in the order in which a reader meets them."""

import re
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"(?:^ {4}.*\n|^\n(?= {4}))+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A command of a shell (`$ mdh run matmul`), or a block of Python."""

    text: str
    python: bool = False

    @property
    def words(self) -> str:
        """A command without its remark."""
        return re.sub(r"\s+#.*", "", self.text)


def snippets(page: Path) -> tuple[Snippet, ...]:
    """Lines that begin with `$ ` in indented blocks, and indented blocks that begin with an import."""
    out: list[Snippet] = []
    for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        rows = [row[4:] for row in block.strip("\n").split("\n")]
        if rows[0].startswith(("import ", "from ")):
            out.append(Snippet("\n".join(rows) + "\n", python=True))
        else:
            out.extend(Snippet(row[2:]) for row in rows if row.startswith("$ "))
    return tuple(out)
