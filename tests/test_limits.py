"""Size limits and forbidden words of the package."""

import ast
import io
import re
import tokenize

import pytest

from tests.support.source_tree import ROOT, Module, modules

FILE_LINES = 400
FUNCTION_LINES = 60
MARKS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "base"}


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.name)
def test_files_are_short(module: Module) -> None:
    assert module.text.count("\n") <= FILE_LINES, f"{module.path} has {module.text.count(chr(10))} lines"


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.name)
def test_functions_are_short(module: Module) -> None:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            assert lines <= FUNCTION_LINES, f"{module.path}:{node.lineno}: {node.name} has {lines} lines"


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.name)
def test_nothing_is_left_open(module: Module) -> None:
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type == tokenize.COMMENT:
            assert not MARKS.search(token.string), f"{module.path}:{token.start[0]}: {token.string}"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Name):
            assert node.id != "NotImplementedError", f"{module.path}:{node.lineno}: not implemented"


def test_names_say_what_is_inside() -> None:
    vague = [m.name for m in modules() if m.name.rsplit(".", 1)[-1] in VAGUE]
    assert not vague


def test_no_path_of_one_machine() -> None:
    """Nothing in the package, its docs or scripts names a place that exists on one machine only."""
    places = re.compile(r"/(work|root|home/\w+)/")
    files = [*(ROOT / "mdh").rglob("*.py"), *(ROOT / "mdh").rglob("*.md"), *(ROOT / "scripts").iterdir()]
    found = [str(f) for f in files if f.is_file() and places.search(f.read_text(encoding="utf-8"))]
    assert not found
