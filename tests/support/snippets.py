"""The commands and the Python of a guide, in the order in which a reader meets them."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from mdh.cli.main import run
from mdh.schedule.parser import parse_schedule
from mdh.source import Source

SMALL = {"M": 96, "N": 128, "K": 128}
SIZED = ("check", "run", "tune", "compare", "compile")
"""Verbs whose commands are typed with small sizes."""
SHORT = {"run": ["--repeat", "3"], "compare": ["--repeat", "3"], "tune": ["--trials", "2"]}
TABLE = "tuned/matmul.over.mdh"
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
    for block in blocks_of(page):
        rows = block.splitlines()
        if rows[0].startswith(("import ", "from ")):
            out.append(Snippet(block, python=True))
        else:
            out.extend(Snippet(row[2:]) for row in rows if row.startswith("$ "))
    return tuple(out)


def blocks_of(page: Path) -> list[str]:
    """The indented blocks of a page."""
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return ["\n".join(row[4:] for row in block.strip("\n").split("\n")) + "\n" for block in found]


_NAMED = re.compile(r"`([\w.]+\.(?:c|tc|diesel|mdh))`")


def shown_files(page: Path) -> dict[str, str]:
    """The files whose text a guide shows: the paragraph in front of the block names one of them and ends in a
    colon."""
    text, out = page.read_text(encoding="utf-8"), {}
    for found in _BLOCK.finditer(text):
        before = text[: found.start()].rstrip().rpartition("\n\n")[2]
        names = set(_NAMED.findall(before))
        rows = [row[4:] for row in found[0].strip("\n").split("\n")]
        if len(names) == 1 and before.endswith(":") and not rows[0].startswith(("$ ", "mdh ")):
            out.setdefault(names.pop(), "\n".join(rows) + "\n")
    return out


def typed(
    words: list[str], *, refused: bool = False, whole: bool = False, small: tuple[str, ...] = SIZED
) -> None:
    """Types `mdh` and these words; `refused`: it has to end with an error. Such an error may be one about
    sizes: the command keeps its own. small: the verbs that get small ones. Only `whole` tunes and compares,
    which takes long; else the same schedules are checked."""
    words, verb = list(words), words[0]
    if verb in small and words[1].startswith("matmul") and not refused:
        words = [re.sub(r"^([MNK])=\d+$", lambda m: f"{m[1]}={SMALL[m[1]]}", w) for w in words]
        words = [w.replace("=1..4096", "=1..4") for w in words]
        given = {w.partition("=")[0] for w in words}
        words += [w for name, n in SMALL.items() if name not in given for w in ("-D", f"{name}={n}")]
    if verb in ("tune", "compare") and not whole:
        words = _unmeasured(words)
    if "--trials" in SHORT.get(words[0], []) and "--budget" in words:
        # a busy machine measures nothing in a short time
        at = words.index("--budget")
        del words[at : at + 2]
    assert run([*words, *SHORT.get(words[0], [])]) == (1 if refused else 0), shlex.join(words)


def _unmeasured(words: list[str]) -> list[str]:
    """The comparison by the cost model alone; for a tuning, the default schedule as its result."""
    if words[0] == "compare":
        out, left = [words[0]], words[1:]
        while left:
            word = left.pop(0)
            if word in ("--device", "--baseline"):
                left.pop(0)
            else:
                out.append(word)
        return [*out, "--machine", "generic-cpu"]
    if "--over" in words:
        at = words.index("--over")
        return ["check", words[1], *_sizes(words), "-D", words[at + 1], "-m", "generic-cpu", "-o", TABLE]
    path = words[words.index("--schedule") + 1]
    assert "?" in Path(path).read_text() and parse_schedule(Source(path, Path(path).read_text()))
    return ["check", words[1], *_sizes(words), "--machine", "generic-cpu", "-o", "tuned/matmul.this-cpu.mdh"]


def _sizes(words: list[str]) -> list[str]:
    return [w for n, w in enumerate(words) if w == "-D" or words[n - 1] == "-D"]
