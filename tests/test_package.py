"""What a wheel holds: every file of the package that is no module, and metadata that is true.

`scripts/newcomer` builds one and installs it."""

import tomllib
from glob import glob

import pytest

from mdh.shipped import examples, schedules
from tests.support.source_tree import PACKAGE, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PATTERNS = PROJECT["tool"]["setuptools"]["package-data"]["mdh"]
LEFT_OUT = ("ARCHITECTURE.md", "CHANGING.md")
BUILT = ("site/**/*",)
"""What a script makes before a release, and a checkout need not hold."""


@pytest.fixture(scope="module")
def packed() -> set[str]:
    """As setuptools finds them, which follows links."""
    return {name for p in PATTERNS for name in glob(p, root_dir=PACKAGE, recursive=True)}


def test_every_pattern_finds_something() -> None:
    found = {p: glob(p, root_dir=PACKAGE, recursive=True) for p in PATTERNS if p not in BUILT}
    assert [p for p, names in found.items() if not names] == []


def test_every_file_is_packed(packed: set[str]) -> None:
    files = {p.relative_to(PACKAGE).as_posix() for p in PACKAGE.rglob("*") if p.is_file()}
    data = {name for name in files if not name.endswith((".py", ".pyc"))}
    assert data - packed == set(LEFT_OUT)


def test_programs_and_schedules_are_packed(packed: set[str]) -> None:
    found = [*examples(), *schedules(), *(s for e in examples() for s in e.steps)]
    assert [one.name for one in found if one.path.relative_to(PACKAGE).as_posix() not in packed] == []


def test_links_lead_to_the_folders_at_the_root() -> None:
    """One copy: what tests, bench and documents name at the root is what the package ships."""
    for name, place in (("programs", "inputs_c"), ("schedules", "schedules")):
        assert (PACKAGE / "shipped" / name).resolve() == ROOT / place


def test_metadata() -> None:
    project = PROJECT["project"]
    assert (ROOT / "LICENSE").read_text().startswith("MIT License") and project["license"] == "MIT"
    assert [author["name"] for author in project["authors"]] == ["The mdh authors"]
    assert project["classifiers"] == sorted(project["classifiers"])
    assert "urls" not in project
