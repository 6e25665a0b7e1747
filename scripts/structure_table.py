"""How the structure of mdh's code has changed since a commit.

    scripts/structure-table COMMIT

Prints lines of Python by folder, how many names several classes have, and how many comparisons with the name
of a target there are outside of what prints, builds or talks to the user.
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
FOLDERS = ("mdh", "tests", "scripts")
TARGETS = {"cuda", "opencl", "c"}
NAMED = {"target", "language"}


@dataclass(frozen=True)
class Structure:
    """lines: by folder, those of mdh by package. shared: names of several classes. targets: comparisons."""

    lines: Counter[str]
    shared: int
    targets: int


def main(commit: str) -> None:
    before = _structure(_committed(commit))
    after = _structure((str(p.relative_to(ROOT)), p.read_text(encoding="utf-8")) for p in _python_files())
    sys.stdout.write(f"| | {commit} | now |\n|---|---|---|" + "\n")
    for folder in sorted(before.lines | after.lines):
        sys.stdout.write(f"| {folder}, lines | {before.lines[folder]:,} | {after.lines[folder]:,} |" + "\n")
    sys.stdout.write(f"| names of several classes in mdh | {before.shared} | {after.shared} |" + "\n")
    sys.stdout.write(f"| comparisons with a target's name | {before.targets} | {after.targets} |" + "\n")


def _python_files() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from sorted((ROOT / folder).rglob("*.py"))


def _committed(commit: str) -> Iterator[tuple[str, str]]:
    words = ["git", "archive", commit, *FOLDERS]
    data = subprocess.run(words, cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            if member.name.endswith(".py") and (file := archive.extractfile(member)) is not None:
                yield member.name, file.read().decode("utf-8")


def _structure(files: Iterator[tuple[str, str]]) -> Structure:
    lines: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    targets = 0
    for path, text in files:
        parts = path.split("/")
        count = text.count("\n")
        lines[parts[0]] += count
        if parts[0] != "mdh":
            continue
        lines["/".join(parts[:2]) if len(parts) > 2 else "mdh/*.py"] += count
        tree = ast.parse(text)
        classes.update(n.name for n in tree.body if isinstance(n, ast.ClassDef))
        if parts[1] not in ("target", "device", "cli"):
            targets += sum(_names_a_target(n) for n in ast.walk(tree) if isinstance(n, ast.Compare))
    return Structure(lines, sum(n > 1 for n in classes.values()), targets)


def _names_a_target(node: ast.Compare) -> bool:
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
