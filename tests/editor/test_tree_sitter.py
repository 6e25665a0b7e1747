"""The grammar for tree-sitter accepts what the parser accepts, and gives the trees of its corpus.

tree-sitter itself is not needed: its grammar is read by Node.js, and lark makes an LALR(1) parser of it,
which has a conflict wherever tree-sitter's LR(1) parser has one. Where the command `tree-sitter` is (Debian's
package `tree-sitter-cli`), it makes its own parser, too.
"""

import json
import logging
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lark import Lark, Token, Tree, UnexpectedInput, logger

from mdh.diagnostics import Failed
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from tests.support.source_tree import ROOT

NODE = shutil.which("node")
TREE_SITTER = shutil.which("tree-sitter")
pytestmark = pytest.mark.skipif(NODE is None, reason="Node.js is not here")
FOLDER = ROOT / "editors" / "tree-sitter-mdh"
Rule = dict[str, Any]


@cache
def rules() -> dict[str, Any]:
    script = str(Path(__file__).parent / "grammar_rules.js")
    done = subprocess.run([str(NODE), script, str(FOLDER / "grammar.js")], capture_output=True, check=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def is_token(rule: Rule) -> bool:
    """Whether a rule is a token of tree-sitter: text alone."""
    if rule["type"] == "CHOICE":
        return all(x["type"] == "STRING" for x in rule["members"])
    return rule["type"] in ("STRING", "PATTERN", "TOKEN")


def pattern(rule: Rule) -> str:
    """The regular expression of a token."""
    match rule["type"]:
        case "STRING":
            return re.escape(rule["value"])
        case "PATTERN":
            return f"(?:{rule['value']})"
        case "CHOICE":
            return f"(?:{'|'.join(map(pattern, rule['members']))})"
        case _:
            return pattern(rule["content"])


def expansion(rule: Rule, tokens: set[str]) -> str:
    """A rule in the notation of lark."""
    match rule["type"]:
        case "SYMBOL":
            return rule["name"].upper() if rule["name"] in tokens else rule["name"]
        case "STRING":
            return json.dumps(rule["value"])
        case "SEQ":
            return " ".join(expansion(x, tokens) for x in rule["members"])
        case "CHOICE":
            return f"({' | '.join(expansion(x, tokens) for x in rule['members'])})"
        case "REPEAT" | "REPEAT1" | "OPTIONAL" as kind:
            sign = {"REPEAT": "*", "REPEAT1": "+", "OPTIONAL": "?"}[kind]
            return f"({expansion(rule['content'], tokens)}){sign}"
        case _:
            return f"({expansion(rule['content'], tokens)})"


SIGNS = '"or" "and" "<" "<=" ">" ">=" "==" "!=" "+" "-" "*" "/" "%"'.replace(" ", " | ")
FLAT = {
    "_expression": f"_operand (({SIGNS}) _operand)*",
    "_operand": '("not" | "-")* (NUMBER | IDENTIFIER | HOLE_NAME | parenthesised)',
}
"""Operations without precedence, of which lark is not told."""


@cache
def parser() -> tuple[Lark, tuple[str, ...]]:
    """The parser, and what it says of conflicts."""
    found = rules()["rules"]
    tokens = {name for name, rule in found.items() if is_token(rule)}
    plain = {
        name: expansion(rule, tokens) for name, rule in found.items() if name not in (*tokens, "operation")
    }
    lines = [f"{name}: {text}" for name, text in {**plain, **FLAT}.items()]
    for name in tokens:
        text = pattern(found[name]).replace("/", r"\/").replace(r"\\/", r"\/")
        lines.append(f"{name.upper()}: /{text}/")
    lines += [r"SPACE: /[ \t\r\n\f\uFEFF]+/", "%ignore SPACE", "%ignore COMMENT"]
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    before = logger.level
    logger.setLevel(logging.DEBUG)
    try:
        made = Lark("\n".join(lines), start="schedule", parser="lalr", lexer="contextual", debug=True)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
    return made, tuple(said)


def shown(node: Tree[Token] | Token) -> list[Any]:
    """A tree as names in lists. Operations are flat."""
    if isinstance(node, Token):
        return [node.type.lower().replace("machine_name", "dotted_name")]
    inside = [x for child in node.children for x in _spliced(shown(child))]
    return [str(node.data), *inside]


def _spliced(found: list[Any]) -> list[Any]:
    return found[1:] if found[0] == "operation" else [found]


def expected(text: str) -> list[Any]:
    """The tree that a corpus states, without comments."""
    words = iter(re.findall(r"[()]|\w+", text))
    assert next(words) == "("

    def read() -> list[Any]:
        out: list[Any] = [next(words)]
        for word in words:
            if word == ")":
                return out
            found = read()
            out += [] if found == ["comment"] else _spliced(found)
        raise AssertionError("a tree that does not end")

    return read()


CORPUS = (FOLDER / "test" / "corpus" / "schedules.txt").read_text(encoding="utf-8")
CASES = re.findall(r"^=+\n([^\n]+)\n=+\n(.*?)\n---\n(.*?)(?=^=|\Z)", CORPUS, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("text", "tree"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_corpus(text: str, tree: str) -> None:
    assert shown(parser()[0].parse(text)) == expected(tree)


def test_no_conflicts() -> None:
    """tree-sitter refuses a grammar with a conflict that no precedence decides."""
    assert [x for x in parser()[1] if "onflict" in x] == []


def test_shipped_schedules() -> None:
    for path in sorted((ROOT / "schedules").rglob("*.mdh")):
        parser()[0].parse(path.read_text(encoding="utf-8"))


def test_what_the_parser_refuses() -> None:
    """Signs that are left out of a text are missed by both."""
    text = (ROOT / "schedules" / "matmul" / "h200" / "base.mdh").read_text(encoding="utf-8")
    for n, sign in enumerate(text):
        if sign in "()[];{}":
            damaged = text[:n] + text[n + 1 :]
            with pytest.raises(Failed):
                parse_schedule(Source("s.mdh", damaged))
            with pytest.raises(UnexpectedInput):
                parser()[0].parse(damaged)


def test_queries_name_rules_that_there_are() -> None:
    known = {*rules()["rules"], "dotted_name"}
    for query in sorted((FOLDER / "queries").glob("*.scm")):
        text = re.sub(r'"[^"]*"', "", query.read_text(encoding="utf-8"))
        names = re.findall(r"\(([a-z_]+)", text)
        assert set(names) <= known, query


@pytest.mark.skipif(TREE_SITTER is None, reason="tree-sitter is not here")
def test_by_tree_sitter(tmp_path: Path) -> None:
    """Its parser, corpus, highlighting and queries; and all that mdh's parser accepts in this tree."""
    folder = tmp_path / "grammar"
    shutil.copytree(FOLDER, folder)

    def run(*words: str) -> str:
        here = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
        done = subprocess.run(
            [str(TREE_SITTER), *words], cwd=folder, env=here, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("generate")
    assert "assertions" in run("test")
    texts = [p for place in ("schedules", "tests") for p in sorted((ROOT / place).rglob("*.mdh"))]
    accepted = [str(p) for p in texts if is_accepted(p)]
    run("parse", "--quiet", *accepted)
    for query in sorted((FOLDER / "queries").glob("*.scm")):
        assert "capture" in run("query", str(query), accepted[0])


def is_accepted(path: Path) -> bool:
    try:
        parse_schedule(Source(path.name, path.read_text(encoding="utf-8")))
    except (Failed, UnicodeDecodeError):
        return False
    return True
