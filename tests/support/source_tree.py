"""The package's files as syntax trees, for the tests that judge its structure."""

import ast
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "mdh"


@dataclass(frozen=True)
class Module:
    """One file: its dotted name, text and tree. Many tests share what is found in it."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(ast.walk(self.tree))

    @cached_property
    def imports(self) -> tuple[tuple[str, int], ...]:
        """(dotted name, line) of every import of the module."""
        return tuple(imports(self.tree))

    @cached_property
    def all_imports(self) -> tuple[tuple[str, int], ...]:
        """(dotted name, line) of every import, also of those that `import_module` makes while mdh runs."""
        return (*self.imports, *named_imports(self.tree))


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


def named_imports(tree: ast.AST) -> list[tuple[str, int]]:
    """(dotted name, line) of every call of `import_module`; of a name made at run time the constant start."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and _calls_import_module(node))
    return [(_constant_start(call.args[0]).rstrip("."), call.lineno) for call in calls if call.args]


def _calls_import_module(call: ast.Call) -> bool:
    function = call.func
    return "import_module" in (getattr(function, "id", ""), getattr(function, "attr", ""))


def _constant_start(name: ast.expr) -> str:
    if isinstance(name, ast.JoinedStr) and name.values:
        name = name.values[0]
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""
