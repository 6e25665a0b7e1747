"""What mdh depends on: few, each with a reason, no unknown major, and a lock that agrees."""

import re
import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.source_tree import ROOT

TEXT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
PROJECT = tomllib.loads(TEXT)["project"]
CORE = PROJECT["dependencies"]
EXTRAS = PROJECT["optional-dependencies"]
ALL = [*CORE, *(one for found in EXTRAS.values() for one in found)]
MOST = 12


def locked() -> dict[str, str]:
    lines = (ROOT / "requirements-test.lock").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if line and not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pairs}


def test_core_dependencies_are_few_and_each_has_a_reason() -> None:
    assert len(CORE) <= MOST
    lines = TEXT[TEXT.index("\ndependencies = [") :].splitlines()
    for one in CORE:
        at = next(n for n, line in enumerate(lines) if line.strip().startswith(f'"{one}"'))
        assert re.match(r"\s*# \w+", lines[at - 1]), one


def test_no_major_is_taken_unseen() -> None:
    bounded = {text: {s.operator for s in Requirement(text).specifier} & {"<", "==", "~="} for text in ALL}
    assert [text for text, bounds in bounded.items() if not bounds] == []


def test_the_lock_is_exact_and_agrees() -> None:
    versions = locked()
    assert all(re.fullmatch(r"[\w.+!-]+", v) for v in versions.values())
    for text in (*CORE, *EXTRAS["test"]):
        wanted = Requirement(text)
        version = versions.get(canonicalize_name(wanted.name))
        assert version is not None, f"{wanted.name} is not in the lock"
        assert wanted.specifier.contains(version, prereleases=True), f"{text}: {version}"


def test_nothing_of_others_is_bundled() -> None:
    """The package's data are ours: who adds a library's file names its licence, here and in SECURITY.md. The
    site that `scripts/site` builds is no part of the sources, and holds a licence of its own."""
    data = {p.relative_to(ROOT).as_posix() for p in (ROOT / "mdh").rglob("*") if p.is_file()}
    ours = re.compile(
        r"mdh/(.*\.py|py\.typed|(ARCHITECTURE|CHANGING)\.md|machines/[\w-]+\.toml|include/mdh\.h"
        r"|docs/.*\.md|docs/pictures/\w+\.svg"
        r"|(shipped|reproduce)/.*\.(c|tc|diesel|mdh)|report/(picture|trials)/\w+\.(js|css))"
    )
    made = re.compile(r"mdh/(site/|(.*/)?__pycache__/).*")
    assert not [p for p in data if not made.fullmatch(p) and not ours.fullmatch(p)]
