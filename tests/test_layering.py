"""Imports go one way, each third-party library has one door, and no function imports."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter

import pytest

from mdh.hardware import Layer, Space
from mdh.language import LANGUAGES
from tests.support.source_tree import Module, imports, modules, named_imports

LAYERS = (
    (
        "mdh.source",
        "mdh.hardware",
        "mdh.release",
        "mdh.ending",
        "mdh.children",
        "mdh.passwords",
        "mdh.printable",
        "mdh.schema",
        "mdh.wording",
    ),
    ("mdh.diagnostics",),
    ("mdh.textfile", "mdh.tomlfile", "mdh.memory_left"),
    ("mdh.machine",),
    ("mdh.language",),
    ("mdh.folders",),
    ("mdh.occupancy",),
    ("mdh.ir",),
    ("mdh.poly",),
    ("mdh.decompose",),
    ("mdh.cost", "mdh.reference.c"),
    ("mdh.frontend", "mdh.schedule", "mdh.reference.slicing"),
    ("mdh.schedule.default", "mdh.reference"),
    ("mdh.checker",),
    ("mdh.lower.passes",),
    ("mdh.lower",),
    ("mdh.target",),
    ("mdh.device",),
    ("mdh.verify",),
    ("mdh.pipeline",),
    ("mdh.results",),
    ("mdh.report", "mdh.tuner.runtime", "mdh.tuner.space", "mdh.tuner.prior"),
    ("mdh.tuner.measure",),
    ("mdh.tuner.records",),
    ("mdh.tuner.search", "mdh.tuner.cluster", "mdh.tuner.warm_start"),
    ("mdh.tuner.local_search", "mdh.tuner.candidates"),
    ("mdh.tuner.loop",),
    ("mdh.tuner",),
    ("mdh.compare",),
    ("mdh.api",),
    ("mdh.cli",),
    ("mdh.__main__",),
)
"""Lowest first; folders of one row do not see one another. A subfolder without a row belongs to the folder
above it."""

DOORS = {
    "islpy": ("mdh.poly.",),
    "pycparser": ("mdh.frontend.c.",),
    "pcpp": ("mdh.frontend.c.",),
    "pyopencl": ("mdh.device.opencl",),
    "cupy": ("mdh.device.cuda",),
    "optuna": ("mdh.tuner.search.",),
    "sqlalchemy": ("mdh.tuner.search.",),
    "threadpoolctl": ("mdh.tuner.runtime.",),
    "distributed": ("mdh.tuner.cluster.",),
    "torch": ("mdh.compare.by_torch.",),
    "typer": ("mdh.cli.",),
    "rich": ("mdh.cli.",),
    "msgspec": ("mdh.schema.",),
}
HEAVY = ("numpy", "islpy", "pycparser", "pcpp", "pyopencl", "cupy", "rich", "ml_dtypes", "optuna", "msgspec")
ARRAYS = ("numpy", "ml_dtypes")
"""Array libraries may be imported wherever arrays are handled: they have no one door."""


def _place(name: str) -> tuple[int, str] | None:
    """The row of a module, and the folder of that row: the innermost that the table knows."""
    found = [
        (row, folder)
        for row, folders in enumerate(LAYERS)
        for folder in folders
        if name == folder or name.startswith(folder + ".")
    ]
    return max(found, key=lambda place: len(place[1]), default=None)


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.name)
def test_imports_go_one_way(module: Module) -> None:
    """Also those that `import_module` makes while mdh runs. The package itself is the public door, and loads
    its names from anywhere."""
    if module.name == "mdh":
        return
    own = _place(module.name)
    assert own is not None, f"{module.name} has no place in the order of imports"
    for name, line in (*imports(module.tree), *named_imports(module.tree)):
        other = _place(name)
        assert other is not None or not name.startswith("mdh."), f"{module.path}:{line}: what is {name}?"
        if other is not None and other != own:
            assert other[0] < own[0], f"{module.path}:{line}: {module.name} imports {name}"


def test_modules_import_one_another_in_no_circle() -> None:
    names = {m.name for m in modules()} - {"mdh"}
    order = TopologicalSorter[str]()
    for module in modules():
        if module.name != "mdh":
            found = (name for name, _ in (*imports(module.tree), *named_imports(module.tree)))
            order.add(module.name, *({_module(name, names) for name in found} & names))
    order.prepare()


def _module(name: str, names: set[str]) -> str:
    """`from a import b` takes a module b, or a name of module a."""
    return name if name in names else name.rpartition(".")[0]


def test_every_row_is_a_folder_or_a_module() -> None:
    names = {m.name for m in modules()}
    assert {folder for row in LAYERS for folder in row} <= names


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.name)
def test_third_party_libraries_have_one_door(module: Module) -> None:
    for name, line in imports(module.tree):
        root = name.split(".")[0]
        if root == "mdh" or root in sys.stdlib_module_names or root in ARRAYS:
            continue
        assert root in DOORS, f"{module.path}:{line}: {root} has no door"
        assert (module.name + ".").startswith(DOORS[root]), (
            f"{module.path}:{line}: {root} enters by {DOORS[root]}"
        )


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.name)
def test_no_function_imports(module: Module) -> None:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            inner = [line for _, line in imports(node)]
            assert not inner, f"{module.path}:{inner[0]}: import inside a function"


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.name)
def test_no_star_or_relative_imports(module: Module) -> None:
    for name, line in imports(module.tree):
        assert not name.startswith("."), f"{module.path}:{line}: relative import"
        assert not name.endswith(".*"), f"{module.path}:{line}: star import"


@pytest.mark.parametrize("entry", ["import mdh", "from mdh.cli.main import run; run(['--help'])"])
def test_the_door_is_light(entry: str) -> None:
    """`import mdh` and `mdh --help` load no parser, no isl, no array library, no library of schemas."""
    code = f"import sys\n{entry}\nprint(*[m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == ""


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.name)
def test_layers_of_the_hardware_are_no_strings(module: Module) -> None:
    """`Layer.BLK`, not "BLK": mypy then finds what is misspelt, and a search what belongs together. The table
    of aliases maps words to them, and some of its words are such names in another sense."""
    words = {*Layer, *Space}
    if module.name in {"mdh.hardware", "mdh.schedule.names"}:
        return
    inside = {id(c) for n in ast.walk(module.tree) if isinstance(n, ast.JoinedStr) for c in ast.walk(n)}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            assert node.value not in words, f"{module.path}:{node.lineno}: {node.value}"


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.name)
def test_targets_are_asked_for_abilities(module: Module) -> None:
    """Only what prints, builds or talks to the user compares a target's name: see mdh/language.py."""
    if module.name.startswith(("mdh.target.", "mdh.device.", "mdh.cli.")):
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            named = any(
                (isinstance(s, ast.Name) and s.id in {"target", "language"})
                or (isinstance(s, ast.Attribute) and s.attr in {"target", "language"})
                for s in sides
            )
            literal = any(isinstance(s, ast.Constant) and s.value in LANGUAGES for s in sides)
            assert not (named and literal), f"{module.path}:{node.lineno}: compares a target's name"


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.name)
def test_shared_parts_of_front_ends_know_no_language(module: Module) -> None:
    if module.name.startswith("mdh.frontend.") and not module.name.startswith("mdh.frontend.c"):
        for name, line in imports(module.tree):
            assert not name.startswith("mdh.frontend.c."), f"{module.path}:{line}: {name}"
