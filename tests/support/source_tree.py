"""The package's files as syntax trees, for the tests that judge its structure."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "mdh"


@dataclass(frozen=True)
class Module:
    """One file: its dotted name, text and tree."""

    name: str
    path: Path
    text: str
    tree: ast.Module


@cache
def modules() -> tuple[Module, ...]:
    return tuple(_read(path) for path in sorted(PACKAGE.rglob("*.py")))


def _read(path: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    parts = path.relative_to(ROOT).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(name, path, text, ast.parse(text, filename=str(path)))


def imports(tree: ast.AST) -> list[tuple[str, int]]:
    """(dotted name, line) of every import in `tree`; `from a import b` gives `a.b`."""
    out: list[tuple[str, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            out.extend((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            out.extend((f"{'.' * node.level}{node.module or ''}.{a.name}", node.lineno) for a in node.names)
    return out
