"""How the structure of mdh's code has changed since a commit.

    scripts/structure-table COMMIT

Prints lines of Python by folder, how many names several classes have, how many functions compare the name
of a target outside of what prints, builds or talks to the user, and how many passes over kernels there are:
with a contract in words, and with a golden text that they change.
"""

import argparse
import ast
import io
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("mdh", "tests", "bench", "experiments", "scripts")
TARGETS = {"cuda", "opencl", "c"}
NAMED = {"target", "language"}
PASSES = "mdh/lower/passes/"
GOLDEN = "tests/golden/passes/"


@dataclass(frozen=True)
class Structure:
    """lines: by folder, those of mdh by package. shared: names of several classes. targets: functions that
    compare a target's name. passes: all, those with a contract, those that change a golden."""

    lines: Counter[str]
    shared: int
    targets: int
    passes: tuple[int, int, int]


def main(commit: str) -> None:
    before = _structure(_committed(commit))
    after = _structure((str(p.relative_to(ROOT)), p.read_text(encoding="utf-8")) for p in _files())
    sys.stdout.write(f"| | {commit} | now |\n|---|---|---|" + "\n")
    for folder in sorted(before.lines | after.lines):
        sys.stdout.write(f"| {folder}, lines | {before.lines[folder]:,} | {after.lines[folder]:,} |" + "\n")
    sys.stdout.write(f"| names of several classes in mdh | {before.shared} | {after.shared} |" + "\n")
    sys.stdout.write(
        f"| functions that compare a target's name | {before.targets} | {after.targets} |" + "\n"
    )
    for n, what in enumerate(("passes", "passes with a contract", "passes that change a golden")):
        sys.stdout.write(f"| {what} | {before.passes[n]} | {after.passes[n]} |" + "\n")


def _files() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from sorted((ROOT / folder).rglob("*.py"))
    yield from sorted((ROOT / GOLDEN).glob("*.txt"))


def _committed(commit: str) -> Iterator[tuple[str, str]]:
    tree = ["git", "ls-tree", "--name-only", commit]
    there = subprocess.run(tree, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split()
    words = ["git", "archive", commit, *(f for f in FOLDERS if f in there)]
    data = subprocess.run(words, cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            if (member.name.endswith(".py") or member.name.startswith(GOLDEN)) and (
                file := archive.extractfile(member)
            ) is not None:
                yield member.name, file.read().decode("utf-8")


def _structure(files: Iterator[tuple[str, str]]) -> Structure:
    lines: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    targets = 0
    passes, contracts, goldens = set[str](), set[str](), list[str]()
    for path, text in files:
        parts = path.split("/")
        if path.startswith(GOLDEN):
            goldens.append(text)
            continue
        count = text.count("\n")
        lines[parts[0]] += count
        if parts[0] != "mdh":
            continue
        lines["/".join(parts[:2]) if len(parts) > 2 else "mdh/*.py"] += count
        tree = ast.parse(text)
        classes.update(n.name for n in tree.body if isinstance(n, ast.ClassDef))
        if parts[1] not in ("target", "device", "cli"):
            functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))
            targets += sum(any(_names_a_target(n) for n in ast.walk(f)) for f in functions)
        if path == PASSES + "table.py":
            passes = {name for n in ast.walk(tree) if (name := _row(n)) is not None}
        elif path.startswith(PASSES) and "Requires" in text and "uarantees" in text:
            contracts.add(parts[-1].removesuffix(".py"))
    changed = {name for name in passes if any(f"\n--- {name}\n" in text for text in goldens)}
    counts = (len(passes), len(passes & contracts), len(changed))
    return Structure(lines, sum(n > 1 for n in classes.values()), targets, counts)


def _row(node: ast.AST) -> str | None:
    """The name in a row of the table of passes."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Pass"):
        return None
    return str(node.args[0].value) if isinstance(node.args[0], ast.Constant) else None


def _names_a_target(node: ast.AST) -> bool:
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    named = any(
        (isinstance(s, ast.Name) and s.id in NAMED) or (isinstance(s, ast.Attribute) and s.attr in NAMED)
        for s in sides
    )
    return named and any(isinstance(s, ast.Constant) and s.value in TARGETS for s in sides)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="scripts/structure-table", description=__doc__)
    parser.add_argument("commit")
    main(parser.parse_args().commit)
