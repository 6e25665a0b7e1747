"""Every code has a page and a rejection, and the other way round. What the guides show exists."""

import ast
import re
import shlex
import textwrap
from pathlib import Path

import pytest
from typer.main import get_command

from mdh.checker.run import check
from mdh.cli.main import VERBS, app
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.machine import load_machine
from mdh.report.pages import page_codes, page_of
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from tests.support.source_tree import PACKAGE, ROOT, modules

CODE = re.compile(r"[ABCDEFKLNPST][0-9]{3}")
REJECT = ROOT / "tests" / "reject"
README = ROOT / "README.md"
INSIDE = (PACKAGE / "ARCHITECTURE.md", PACKAGE / "CHANGING.md")
GUIDES = sorted((PACKAGE / "docs").glob("*.md"))


def _codes_in_source() -> dict[str, str]:
    """Code -> the first place in the package that names it as a string."""
    found: dict[str, str] = {}
    for module in modules():
        for node in module.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
                found.setdefault(node.value, f"{module.path.relative_to(ROOT)}:{node.lineno}")
    return found


def test_codes_have_pages_and_cases_and_the_other_way_round() -> None:
    codes = _codes_in_source()
    folders = {p.name for p in REJECT.iterdir() if p.is_dir() and any(p.iterdir())}
    cases = {p.parent.name for p in REJECT.glob("*/*") if p.is_dir()}
    assert {code: place for code, place in codes.items() if not page_of(code)} == {}, "no docs/codes/CODE.md"
    assert {code: place for code, place in codes.items() if code not in cases} == {}, "no reject/CODE/CASE/"
    assert set(page_codes()) == set(codes)
    assert folders == set(codes)


def test_pages_have_their_parts() -> None:
    for code in page_codes():
        text = page_of(code) or ""
        assert re.match(rf"# {code}: \S", text), f"{code}.md does not begin with '# {code}: name'"
        assert len(text.splitlines()) >= 5, f"{code}.md says too little"
        assert re.search(r"^( {4}|```)", text, re.MULTILINE), f"{code}.md has no example"


@pytest.mark.parametrize("code", [c for c in page_codes() if "S101" <= c <= "S115" and c != "S103"])
def test_example_of_a_text_error_is_refused_so(code: str) -> None:
    """S103 shows no text: its example is too large for a page."""
    example = re.search(r"(?:^ {4}.*\n)+", page_of(code) or "", re.MULTILINE)
    assert example
    with pytest.raises(Failed) as refused:
        parse_schedule(Source("schedule.mdh", textwrap.dedent(example[0])))
    assert {d.code for d in refused.value.diagnostics} == {code}


# pages whose example is a schedule of PRODUCT alone, without an option or another program
K_EXAMPLES = [
    "K101", "K102", "K103", "K104", "K106", "K107", "K109", "K110", "K112", "K113", "K114", "K120",
    "K121", "K140", "K141", "K150", "K152", "K153", "K164", "K166", "K168", "K170", "K190",
]  # fmt: skip
PRODUCT = (
    "void f(const float A[N][N], const float B[N][N], float C[N][N]) {"
    " for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) for (int k = 0; k < N; k++)"
    " C[i][j] += A[i][k] * B[k][j]; }"
)


@pytest.mark.parametrize("code", K_EXAMPLES)
def test_example_of_an_illegal_schedule_is_refused_so(code: str) -> None:
    example = re.search(r"(?:^ {4}.*\n)+", page_of(code) or "", re.MULTILINE)
    assert example
    schedule = parse_schedule(Source("schedule.mdh", textwrap.dedent(example[0])))
    program = read_program(Source("f.c", PRODUCT), defines={"N": 1024})
    with pytest.raises(Failed) as refused:
        check(program, schedule, load_machine("a100"), "cuda")
    assert {d.code for d in refused.value.diagnostics} == {code}


def _commands(text: str) -> list[list[str]]:
    """The `mdh …` lines of indented and fenced blocks."""
    lines = re.findall(r"^(?: {4}|\$ | {4}\$ )mdh +(.+)$", text, re.MULTILINE)
    return [shlex.split(line.split(" #")[0]) for line in lines]


@pytest.mark.parametrize(
    "words", [w for p in (README, *GUIDES) for w in _commands(p.read_text(encoding="utf-8"))], ids=" ".join
)
def test_commands_of_the_guides_exist(words: list[str]) -> None:
    verb = words[0]
    assert verb in VERBS
    command = get_command(app).get_command(None, verb)  # type: ignore[attr-defined]
    known = {o for p in command.params for o in (*p.opts, *p.secondary_opts)} | {"--help"}
    for word in words[1:]:
        if word.startswith("-") and word != "-":
            option = word.split("=")[0]
            assert option in known, f"mdh {verb} has no {option}"
        if word.startswith("inputs_c/"):
            assert (ROOT / word).exists()


def test_glossary_has_the_words_of_the_code() -> None:
    glossary = (PACKAGE / "docs" / "glossary.md").read_text(encoding="utf-8")
    for term in (
        "MDH",
        "stage",
        "schedule",
        "step",
        "tile",
        "part",
        "core layer",
        "memory region",
        "hole",
        "plan",
    ):
        assert re.search(rf"^\| \*\*{term}\*\*", glossary, re.MULTILINE | re.IGNORECASE), term


@pytest.mark.parametrize("page", [README, *INSIDE, *GUIDES], ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link


def test_readme_has_900_words() -> None:
    assert len(README.read_text(encoding="utf-8").split()) == 900


def test_the_architecture_is_read_in_five_minutes() -> None:
    assert len(INSIDE[0].read_text(encoding="utf-8").split()) <= 1250


@pytest.mark.parametrize("page", INSIDE, ids=lambda p: p.name)
def test_paths_of_the_architecture_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for word in re.findall(r"`([a-z_./]+(?:/|\.py))`", text):
        assert (PACKAGE / word).exists() or (ROOT / word).exists(), word
