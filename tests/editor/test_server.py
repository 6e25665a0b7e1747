"""A real session over pipes: `mdh lsp` and a client of JSON-RPC. `session.txt` is the record of it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.editor.client import Client

pytest.importorskip("pygls", reason="the extra `editor` is not installed")
RECORD = Path(__file__).parent / "session.txt"
PROGRAM = """void product(const float A[M][K], const float B[K][N], float C[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[k][j];
}
"""
SCHEDULE = """// 🚀 blocks of 32 x 32
for product M=256 N=256 K=64 on a100
target a100

1: (de-)comp( 32, 32, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 8 )   ( A:SM[1,2], B:SM[1,2] ; C:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( 4, 4, ^ )   ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )
"""
HOLES = SCHEDULE.replace("32, 32", "?b{32,64}, ?b").replace("4, 4", "?t, 4")


def place(text: str, word: str, more: int = 0) -> tuple[int, int]:
    """Line and character of a word, in units of UTF-16."""
    at = text.index(word) + more
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return text.count("\n", 0, at), len(line.encode("utf-16-le")) // 2


def told(client: Client) -> str:
    """The session as text, without what depends on the machine."""
    rows = []
    for who, message in client.log:
        text = json.dumps(message, ensure_ascii=False)
        text = text.replace(client.root.as_uri(), "ROOT").replace(str(client.root), "ROOT")
        text = re.sub(r"file://[^\"]*/mdh/(docs|machines)/", r"MDH/\1/", text)
        rows.append(f"{who}: {text}")
    return "\n".join(rows) + "\n"


def apply(text: str, edits: list[dict[str, Any]]) -> str:
    """The text with the changes of a server, as an editor makes them."""
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:n])) for n in range(len(lines) + 1)]

    def offset(p: dict[str, int]) -> int:
        line = lines[p["line"]] if p["line"] < len(lines) else ""
        before = line.encode("utf-16-le")[: 2 * p["character"]].decode("utf-16-le")
        return starts[min(p["line"], len(lines))] + len(before)

    spans = [(offset(e["range"]["start"]), offset(e["range"]["end"]), e["newText"]) for e in edits]
    for low, high, new in sorted(spans, reverse=True):
        text = text[:low] + new + text[high:]
    return text


def test_a_session(tmp_path: Path, update_golden: bool) -> None:
    program, schedule = tmp_path / "product.c", tmp_path / "mine.mdh"
    program.write_text(PROGRAM, encoding="utf-8")
    # of the settings, a hole's value and a size that nothing here has change nothing
    client = Client(tmp_path, {"set": ["heard=8"], "define": ["UNHEARD=4"], "allow": ["tf32"], "machine": ""})
    assert {"hoverProvider", "renameProvider", "codeActionProvider"} <= client.start().keys()
    document = {"textDocument": {"uri": schedule.as_uri()}}
    assert client.open(schedule, SCHEDULE) == ""

    # a mistake of the hardware, and one of the grammar with its fix
    assert (
        client.change(schedule, SCHEDULE.replace("4, 4, ^", "1, 1, ^").replace("32, 32", "64, 64"), 2)
        == "K160"
    )
    assert client.change(schedule, SCHEDULE.replace("A:SM[1,2]", "A:SN[1,2]"), 3) == "S108"
    wrong = client.shown[schedule.as_uri()][0]
    assert wrong["codeDescription"]["href"].endswith("/docs/codes/S108.md")
    context = {"range": wrong["range"], "context": {"diagnostics": [wrong]}}
    found = client.request("textDocument/codeAction", {**document, **context})
    edits = found[0]["edit"]["changes"][schedule.as_uri()]
    assert apply(SCHEDULE.replace("A:SM[1,2]", "A:SN[1,2]"), edits) == SCHEDULE
    assert client.change(schedule, SCHEDULE, 4) == ""

    hover = client.request("textDocument/hover", client.at(schedule, *place(SCHEDULE, "2: (de")))
    assert "`A:SM[1,2]` copied: 32×8 elements" in hover["contents"]["value"]
    items = client.request("textDocument/completion", client.at(schedule, *place(SCHEDULE, "BLK.x")))
    assert {"BLK.x", "FOR.1", "^"} <= {x["label"] for x in items["items"]}
    went = client.request("textDocument/definition", client.at(schedule, *place(SCHEDULE, "B:SM")))
    assert went[0]["uri"] == program.as_uri() and went[0]["range"]["start"]["line"] == 0
    symbols = client.request("textDocument/documentSymbol", document)
    assert [x["name"] for x in symbols][2:] == ["step 1", "step 2", "step 3"]
    options = {"options": {"tabSize": 4, "insertSpaces": True}}
    edits = client.request("textDocument/formatting", {**document, **options})
    tidy = apply(SCHEDULE, edits)
    assert client.change(schedule, tidy, 5) == ""
    assert client.request("textDocument/formatting", {**document, **options}) == []

    # holes: remarks, a range, a new name
    assert client.change(schedule, HOLES, 6) == "S154 S154"
    hover = client.request("textDocument/hover", client.at(schedule, *place(HOLES, "?t", 1)))
    assert "`4`" in hover["contents"]["value"]
    new = client.request(
        "textDocument/rename", {**client.at(schedule, *place(HOLES, "?b,", 1)), "newName": "block"}
    )
    edits = new["changes"][schedule.as_uri()]
    assert apply(HOLES, edits) == re.sub(r"\?b\b", "?block", HOLES)

    with pytest.raises(AssertionError, match="is another hole of this schedule"):
        client.request(
            "textDocument/rename", {**client.at(schedule, *place(HOLES, "?b,", 1)), "newName": "t"}
        )

    # the program: its change is seen in the schedule
    assert client.open(program) == ""
    assert client.change(schedule, SCHEDULE, 7) == ""
    client.shown.pop(schedule.as_uri())
    assert client.change(program, PROGRAM.replace("B[k][j]", "B[k][q]"), 2) == "C111"
    assert client.wait(schedule, 7) == "C111"
    assert client.request("textDocument/hover", client.at(tmp_path / "other.mdh", 0, 0)) is None
    assert client.stop() == 0

    text = told(client)
    if update_golden:
        RECORD.write_text(text, encoding="utf-8")
    assert text == RECORD.read_text(encoding="utf-8")
