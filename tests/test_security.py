"""Data never runs: nothing in the package loads what executes, evaluates text, or starts a shell."""

import ast
from collections.abc import Iterator

import pytest

from tests.support.source_tree import modules

LOADERS = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "jsonpickle"}
"""Libraries whose reading side runs what it reads."""
EVALUATORS = {"eval", "exec", "compile", "__import__", "builtins.eval", "builtins.exec", "builtins.compile"}
SHELLS = {
    "os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "pty.spawn",
    "asyncio.create_subprocess_shell", "asyncio.subprocess.create_subprocess_shell",
}  # fmt: skip
UNSAFE = {
    "yaml.load", "yaml.load_all", "yaml.unsafe_load", "yaml.full_load", "torch.load", "pandas.read_pickle",
    "numpy.lib.format.read_array", "tempfile.mktemp", "cupy.load",
}  # fmt: skip
"""Calls that run what they read, or name a file that somebody else may put there first."""
PICKLES = {"numpy.load", "numpy.save", "numpy.lib.format.read_array", "numpy.lib.format.write_array"}
"""Safe where they are told to leave pickles alone, in the call itself."""
USUAL = {"np": "numpy", "numpy": "numpy", "torch": "torch", "yaml": "yaml", "cupy": "cupy", "os": "os"}
"""What names stand for that no import in the file explains, as those of modules loaded when needed."""


def names_of(tree: ast.Module) -> dict[str, str]:
    """Local name -> what it was imported as, dotted."""
    out = dict(USUAL)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.split(".")[0]
                out[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                out[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return out


def dotted(node: ast.expr, names: dict[str, str]) -> str:
    """`np.load` as `numpy.load`; empty for what is no dotted name."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        left = dotted(node.value, names)
        return f"{left}.{node.attr}" if left else ""
    return ""


def dangers(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, what) of everything that could run data."""
    names = names_of(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom():
                full = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                yield from ((node.lineno, n) for n in full if n.split(".")[0] in LOADERS)
            case ast.Call():
                yield from ((node.lineno, what) for what in _call(node, names))
            case ast.Tuple() | ast.List():
                yield from ((node.lineno, what) for what in _python(node, names))
            case ast.Name() | ast.Attribute():
                # also where it is only handed on
                if (name := dotted(node, names)) in SHELLS | UNSAFE:
                    yield node.lineno, name


def _call(node: ast.Call, names: dict[str, str]) -> Iterator[str]:
    name = dotted(node.func, names)
    given = {k.arg: k.value for k in node.keywords}
    if name in EVALUATORS:
        yield name
    if "shell" in given and not _is(given["shell"], False):
        yield f"{name}(shell=…)"
    if name in PICKLES and not _is(given.get("allow_pickle"), False):
        yield f"{name} without allow_pickle=False"
    if name.endswith("import_module") and node.args and isinstance(node.args[0], ast.Constant):
        root = str(node.args[0].value).split(".")[0]
        if root in LOADERS:
            yield f"import_module({root})"


def _python(node: ast.Tuple | ast.List, names: dict[str, str]) -> Iterator[str]:
    """A Python that looks for modules in the current folder, where others may have put theirs."""
    first = dotted(node.elts[0], names) if node.elts else ""
    if first == "sys.executable" and not any(_is(word, "-P") or _is(word, "-I") for word in node.elts):
        yield "sys.executable without -P"


def _is(node: ast.expr | None, value: object) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is type(value) and node.value == value


def test_data_never_runs() -> None:
    assert [f"{m.path}:{line}: {what}" for m in modules() for line, what in dangers(m.tree)] == []


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from marshal import loads",
        "import cloudpickle as c",
        "from importlib import import_module\nimport_module('dill')",
        "eval('1')",
        "import builtins\nbuiltins.exec('x')",
        "compile('1', 'f', 'eval')",
        "import os\nos.system('ls')",
        "from os import popen as p\np('ls')",
        "from subprocess import run\nrun('ls', shell=True)",
        "import subprocess as s\ns.run(words, shell=flag)",
        "import numpy as np\nnp.load(path)",
        "from numpy import load\nload(path, allow_pickle=True)",
        "np.save(path, array)",
        "import yaml\nyaml.load(text)",
        "torch.load(path)",
        "from tempfile import mktemp\nf = mktemp",
        "read = torch.load",
        "import sys\nrun([sys.executable, '-m', 'mdh'])",
    ],
)
def test_each_danger_is_seen(text: str) -> None:
    assert list(dangers(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        "import re\nre.compile('a')",
        "import numpy as np\nnp.load(path, allow_pickle=False)",
        "import json\njson.load(file)",
        "import sys\nrun([sys.executable, '-P', '-m', 'mdh'])",
        "import subprocess\nsubprocess.run(['ls'], shell=False)",
        "self.compile(x)",
        "import tomllib\ntomllib.load(file)",
    ],
)
def test_what_is_safe_stays(text: str) -> None:
    assert not list(dangers(ast.parse(text)))
