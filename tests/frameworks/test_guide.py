"""The snippets of the guide on frameworks, and the examples."""

import re
from pathlib import Path

import pytest

from tests.support.source_tree import PACKAGE

GUIDE = (PACKAGE / "docs" / "frameworks.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_snippets_of_the_guide_run(
    framework: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after the other, as a user would type them."""
    pytest.importorskip(framework)
    layer = re.search(r"((?:^ {4}.*\n)+)", GUIDE, re.MULTILINE)
    assert layer
    (tmp_path / "layer.c").write_text(layer[1])
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(rf"^```python {framework}\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    assert snippets
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
