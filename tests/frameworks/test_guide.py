"""The snippets of the guide on frameworks, and the examples."""

import re
import textwrap
from pathlib import Path

import pytest

from tests.support.source_tree import PACKAGE

GUIDE = (PACKAGE / "docs" / "frameworks.md").read_text(encoding="utf-8")

SECTIONS = {"torch": ("PyTorch", "Gradients"), "jax": ("JAX",)}


def _blocks(title: str) -> list[str]:
    """The indented blocks of a section of the guide."""
    section = re.search(rf"^#+ {title}\n(.*?)(?=^#|\Z)", GUIDE, re.MULTILINE | re.DOTALL)
    assert section
    found = re.findall(r"(?:^ {4}.*\n|^\n(?= {4}))+", section[1], re.MULTILINE)
    return [textwrap.dedent(block).strip("\n") + "\n" for block in found if block.strip()]


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_snippets_of_the_guide_run(
    framework: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after the other, as a user would type them."""
    pytest.importorskip(framework)
    layer, *_ = _blocks("mdh in PyTorch and JAX")
    (tmp_path / "layer.c").write_text(layer)
    monkeypatch.chdir(tmp_path)
    snippets = [s for title in SECTIONS[framework] for s in _blocks(title) if not s.startswith("void")]
    assert len(snippets) >= len(SECTIONS[framework])
    names: dict[str, object] = {}
    for snippet in snippets:
        exec(compile(snippet, "frameworks.md", "exec"), names)
    assert framework == "jax" or "void layer_backward(" in capsys.readouterr().out


def test_torch_trains_a_network_of_mdh_layers() -> None:
    pytest.importorskip("torch")
    train = pytest.importorskip("examples.train_torch")
    assert train.main(["--steps", "12"]) < 1e-5


def test_jax_trains_a_network_of_mdh_layers() -> None:
    pytest.importorskip("jax")
    train = pytest.importorskip("examples.train_jax")
    assert train.main(["--steps", "12"]) < 1e-5


@pytest.mark.gpu
def test_torch_trains_on_a_gpu() -> None:
    pytest.importorskip("torch")
    train = pytest.importorskip("examples.train_torch")
    assert train.main(["--steps", "30", "--device", "cuda"]) < 1e-3
    assert train.main(["--steps", "30", "--device", "cuda", "--compile"]) < 1e-3
