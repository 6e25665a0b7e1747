"""Size limits and forbidden words of the package."""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator

from tests.support.source_tree import ROOT, Module, modules

FILE_LINES = 400
FUNCTION_LINES = 60
MARKS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "base"}


def test_files_are_short() -> None:
    lines = {str(m.path): m.text.count("\n") for m in modules()}
    assert {path: n for path, n in lines.items() if n > FILE_LINES} == {}


def test_functions_are_short() -> None:
    assert [long for module in modules() for long in _long_functions(module)] == []


def _long_functions(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield f"{module.path}:{node.lineno}: {node.name} has {lines} lines"


def test_nothing_is_left_open() -> None:
    assert [place for module in modules() for place in _left_open(module)] == []


def _left_open(module: Module) -> Iterator[str]:
    # a file without a mark anywhere has none in its comments
    if MARKS.search(module.text):
        for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
            if token.type == tokenize.COMMENT and MARKS.search(token.string):
                yield f"{module.path}:{token.start[0]}: {token.string}"
    for node in module.nodes:
        if isinstance(node, ast.Name) and node.id == "NotImplementedError":
            yield f"{module.path}:{node.lineno}: not implemented"


def test_names_say_what_is_inside() -> None:
    vague = [m.name for m in modules() if m.name.rsplit(".", 1)[-1] in VAGUE]
    assert not vague


SAME = {"Kernel": "what users call, and what is launched", "Op": "of mdh.torch, and of mdh.jax"}
"""Names that two classes have, and why: users know the one, or both."""


def test_no_two_classes_have_one_name() -> None:
    """So a name in a message, a page or a search means one thing."""
    classes = Counter(n.name for m in modules() for n in m.tree.body if isinstance(n, ast.ClassDef))
    assert {name for name, count in classes.items() if count > 1} == set(SAME)


def test_no_path_of_one_machine() -> None:
    """Nothing in the package, its docs or scripts names a place that exists on one machine only."""
    places = re.compile(r"/(work|root|home/\w+)/")
    files = [*(ROOT / "mdh").rglob("*.py"), *(ROOT / "mdh").rglob("*.md"), *(ROOT / "scripts").iterdir()]
    found = [str(f) for f in files if f.is_file() and places.search(f.read_text(encoding="utf-8"))]
    assert not found
