"""The site of the documentation, as far as it can be looked at without building it, and its server."""

import re
from pathlib import Path
from threading import Thread
from urllib.request import urlopen

import pytest

from mdh.cli.docs import LOOPBACK, site_server
from mdh.cli.main import run
from tests.support.source_tree import ROOT

DOCS = ROOT / "mdh" / "docs"


def test_every_guide_is_in_the_menu() -> None:
    menu = (ROOT / "website" / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    pages = {p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md") if p.parent.name != "codes"}
    assert pages - set(re.findall(r": ([\w/]+\.md)$", menu, re.MULTILINE)) == set()


def test_families_of_codes_have_titles() -> None:
    text = (ROOT / "website" / "pages.py").read_text(encoding="utf-8")
    titles = set(re.findall(r'^    "([A-Z])": "', text, re.MULTILINE))
    assert titles == {p.name[0] for p in (DOCS / "codes").glob("*.md")}


def test_the_server_gives_files_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>mdh</p>", encoding="utf-8")
    with site_server(0, tmp_path) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        with urlopen(f"http://{LOOPBACK}:{server.server_port}/", timeout=10) as answer:
            assert answer.read() == b"<p>mdh</p>"
        server.shutdown()


def test_without_a_site_the_pages_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("mdh.cli.docs.SITE", tmp_path)
    assert run(["docs"]) != 0
    assert "F101" in capsys.readouterr().err
    assert run(["docs", "--folder"]) == 0
    assert capsys.readouterr().out.strip() == str(DOCS)
