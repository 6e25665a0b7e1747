"""A session with the language server as a page to read: what an editor asks, and what comes back.
`python -m tests.campaigns.editor_session artifacts/editors.md`; needs the extra `editor`.

The client speaks LSP over pipes. A tree of shipped files is copied, so that nothing here is changed.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.editor.client import Client
from tests.support.source_tree import ROOT

SCHEDULE = "schedules/matmul/h200/base.mdh"
PROGRAMS = ("inputs_c/matmul.c", "inputs_c/MLP1.tc", "inputs_c/matmul_init.diesel")
HOLES = """target generic-cpu
for matmul M=64 N=64 K=64
1: (de-)comp( ?b{16,32}, ?b, ^ ) ( ^, ^ ; ^ ) ( BLK.x, BLK.y, ^ )
2: (de-)comp( 1, 1, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^ )
"""
HEAD = """# A session with the language server

Written by `python -m tests.campaigns.editor_session`: each request of an editor, and the answer. Positions
are lines and columns from 1. Pictures of the same in VS Code, which `scripts/editors` takes:
[messages and hover](editors/vscode.hover.png), [a quick fix](editors/vscode.fix.png),
[completion](editors/vscode.completion.png), [from a schedule to its program](editors/vscode.definition.png),
[a program in Tensor Comprehensions](editors/vscode.program.png).
"""


class Session:
    """A client whose requests and answers become lines."""

    def __init__(self, root: Path) -> None:
        self.root, self.client = root, Client(root)
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}

    def open(self, name: str, text: str | None = None) -> Iterator[str]:
        path = self.root / name
        self.texts[name] = path.read_text(encoding="utf-8") if text is None else text
        self.versions[name] = 1
        self.client.open(path, self.texts[name])
        yield from self.shown(f"open {name}", self._messages(name))

    def change(self, name: str, old: str, new: str) -> Iterator[str]:
        """Types `new` in the place of the first `old`."""
        if old not in self.texts[name]:
            raise ValueError(f"{name} has no {old!r}")
        self.texts[name] = self.texts[name].replace(old, new, 1)
        self.versions[name] += 1
        self.client.change(self.root / name, self.texts[name], self.versions[name])
        yield from self.shown(f"change {name}: `{old}` to `{new}`", self._messages(name))

    def ask(self, method: str, name: str, word: str, within: int = 0, **more: Any) -> Iterator[str]:
        """A request at the first `word`, `within` characters into it."""
        at = self.texts[name].index(word) + within
        line, column = self.texts[name].count("\n", 0, at), at - self.texts[name].rfind("\n", 0, at) - 1
        found = self.client.request(
            f"textDocument/{method}", {**self.client.at(self.root / name, line, column), **more}
        )
        words = "".join(f", {key} {value}" for key, value in more.items())
        head = f"{method} in {name} at {line + 1}:{column + 1}, on `{word}`{words}"
        yield from self.shown(head, _answer(found))

    def actions(self, name: str) -> Iterator[str]:
        """What an editor offers for the messages of a file."""
        wrong = self.client.shown[(self.root / name).as_uri()]
        document = {"textDocument": {"uri": (self.root / name).as_uri()}}
        context = {"range": wrong[0]["range"], "context": {"diagnostics": wrong}}
        found = self.client.request("textDocument/codeAction", {**document, **context})
        yield from self.shown(f"codeAction in {name}", [f"{x['title']} ({x['kind']})" for x in found])

    def formatted(self, name: str) -> Iterator[str]:
        document = {"textDocument": {"uri": (self.root / name).as_uri()}}
        options = {"options": {"tabSize": 4, "insertSpaces": True}}
        found = self.client.request("textDocument/formatting", {**document, **options})
        yield from self.shown(f"formatting of {name}", _edits(found))

    def shown(self, head: str, answer: list[str]) -> Iterator[str]:
        yield f"\n**{head}**\n"
        yield from (f"    {line.replace(self.root.as_uri(), 'ROOT')}" for line in answer or ["nothing"])

    def _messages(self, name: str) -> list[str]:
        out = []
        for one in self.client.shown[(self.root / name).as_uri()]:
            first, *others = one["message"].splitlines()
            out += [f"{_place(one['range'])} {one['code']} {first}", *(f"    {x}" for x in others)]
        return out


def _place(span: dict[str, Any]) -> str:
    start, end = span["start"], span["end"]
    return f"{start['line'] + 1}:{start['character'] + 1}-{end['line'] + 1}:{end['character'] + 1}"


def _edits(found: list[dict[str, Any]]) -> list[str]:
    return [f"{_place(x['range'])} {x['newText'].rstrip()}" for x in found]


def _answer(found: Any) -> list[str]:
    """The part of an answer that a user sees."""
    match found:
        case {"contents": {"value": str(text)}}:
            return [line for line in text.splitlines() if line]
        case {"items": list(items)}:
            return [" ".join(x["label"] for x in items)]
        case {"changes": dict(changes)}:
            return [line for edits in changes.values() for line in _edits(edits)]
        case list(places):
            return [f"{x['uri']} {_place(x['range'])}" for x in places]
        case _:
            return []


def session(place: Session) -> Iterator[str]:
    name, (program, *others) = SCHEDULE, PROGRAMS
    yield "\n## A schedule"
    yield from place.open(name)
    yield from place.change(name, "BLK.y", "BLOK.y")
    yield from place.actions(name)
    yield from place.change(name, "BLOK.y", "BLK.y")
    yield from place.ask("hover", name, "2: (de-)comp")
    yield from place.ask("hover", name, "FOR.1")
    yield from place.ask("hover", name, "@stages", 2)
    yield from place.ask("completion", name, "A:SM")
    yield from place.ask("completion", name, "BLK.y")
    yield from place.ask("completion", name, "@occupancy", 1)
    yield from place.ask("completion", name, "async else")
    yield from place.ask("definition", name, "A:SM")
    yield from place.change(name, "1: (de-)comp", "1   :  (de-)comp")
    yield from place.formatted(name)
    yield "\n## Holes"
    yield from place.open("mine.mdh", HOLES)
    yield from place.ask("hover", "mine.mdh", "?b", 1)
    yield from place.ask("rename", "mine.mdh", "?b", 1, newName="block")
    yield "\n## Programs"
    yield from place.open(program)
    yield from place.ask("hover", program, "k++", 0)
    yield from place.ask("definition", program, "C[i][j] += A[i][k] * B[k][j];")
    yield from place.change(program, "B[k][j];", "B[k][q];")
    for other, (old, new) in zip(others, (("W1(n,m)", "W2(n,m)"), ("A * B", "A * D")), strict=True):
        yield from place.open(other)
        yield from place.change(other, old, new)


def main() -> int:
    parser = argparse.ArgumentParser(prog="editor_session", description=__doc__)
    parser.add_argument("page", type=Path, help="the page that is written")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in (SCHEDULE, *PROGRAMS):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
        place = Session(root)
        place.client.start()
        lines = list(session(place))
        place.client.stop()
    given.page.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
