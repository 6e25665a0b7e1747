"""Imports go one way, each third-party library has one door, and no function imports."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter

import pytest

from mdh.hardware import Layer, Space
from mdh.language import LANGUAGES
from tests.support.source_tree import Module, imports, modules

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
        "mdh.shown",
        "mdh.wording",
        "mdh.include",
        "mdh.shipped",
    ),
    ("mdh.diagnostics",),
    ("mdh.textfile", "mdh.tomlfile", "mdh.memory_left"),
    ("mdh.machine", "mdh.project"),
    ("mdh.language",),
    ("mdh.folders",),
    ("mdh.occupancy",),
    ("mdh.ir",),
    ("mdh.poly",),
    ("mdh.decompose",),
    ("mdh.cost", "mdh.reference.c"),
    ("mdh.frontend", "mdh.schedule", "mdh.reference.slicing"),
    ("mdh.schedule.default", "mdh.reference", "mdh.gradient"),
    ("mdh.checker",),
    ("mdh.lower.passes",),
    ("mdh.lower",),
    ("mdh.target",),
    ("mdh.device",),
    ("mdh.verify", "mdh.assembly", "mdh.counters"),
    ("mdh.pipeline",),
    ("mdh.fixing", "mdh.edits"),
    ("mdh.default_device",),
    ("mdh.results",),
    ("mdh.report", "mdh.tuner.runtime", "mdh.tuner.space"),
    ("mdh.tuner.measure",),
    ("mdh.tuner.records",),
    ("mdh.tuner.search", "mdh.tuner.cluster", "mdh.tuner.warm_start"),
    ("mdh.tuner.local_search", "mdh.tuner.candidates"),
    ("mdh.tuner.loop",),
    ("mdh.tuner",),
    ("mdh.compare",),
    ("mdh.reproduce",),
    ("mdh.api",),
    ("mdh.editor",),
    ("mdh.operators",),
    ("mdh.jax", "mdh.torch"),
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
    "torch": ("mdh.compare.by_torch.", "mdh.compare.torch_calls.", "mdh.torch."),
    "jax": ("mdh.jax.",),
    "typer": ("mdh.cli.",),
    "rich": ("mdh.cli.",),
    "msgspec": ("mdh.schema.",),
    "opt_einsum": ("mdh.frontend.einsum.",),
    "pygments": ("mdh.report.picture.colours.",),
    "pygls": ("mdh.editor.server.",),
    "lsprotocol": ("mdh.editor.server.",),
}
HEAVY = (
    "numpy", "islpy", "pycparser", "pcpp", "pyopencl", "cupy", "rich", "ml_dtypes", "optuna", "msgspec",
    "torch", "jax", "pygls", "pygments",
)  # fmt: skip
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


def test_imports_go_one_way() -> None:
    """Also those that `import_module` makes while mdh runs. The package itself is the public door, and loads
    its names from anywhere."""
    assert [fault for m in modules() if m.name != "mdh" for fault in _wrong_ways(m)] == []


def _wrong_ways(module: Module) -> Iterator[str]:
    own = _place(module.name)
    if own is None:
        yield f"{module.name} has no place in the order of imports"
        return
    for name, line in module.all_imports:
        other = _place(name)
        if other is None and name.startswith("mdh."):
            yield f"{module.path}:{line}: what is {name}?"
        if other is not None and other != own and other[0] >= own[0]:
            yield f"{module.path}:{line}: {module.name} imports {name}"


def test_modules_import_one_another_in_no_circle() -> None:
    names = {m.name for m in modules()} - {"mdh"}
    order = TopologicalSorter[str]()
    for module in modules():
        if module.name != "mdh":
            found = (name for name, _ in module.all_imports)
            order.add(module.name, *({_module(name, names) for name in found} & names))
    order.prepare()


def _module(name: str, names: set[str]) -> str:
    """`from a import b` takes a module b, or a name of module a."""
    return name if name in names else name.rpartition(".")[0]


def test_every_row_is_a_folder_or_a_module() -> None:
    names = {m.name for m in modules()}
    assert {folder for row in LAYERS for folder in row} <= names


def test_third_party_libraries_have_one_door() -> None:
    assert [fault for module in modules() for fault in _other_doors(module)] == []


def _other_doors(module: Module) -> Iterator[str]:
    for name, line in module.imports:
        root = name.split(".")[0]
        if root == "mdh" or root in sys.stdlib_module_names or root in ARRAYS:
            continue
        if root not in DOORS:
            yield f"{module.path}:{line}: {root} has no door"
        elif not (module.name + ".").startswith(DOORS[root]):
            yield f"{module.path}:{line}: {root} enters by {DOORS[root]}"


def test_no_function_imports() -> None:
    functions = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    inner = {
        f"{module.path}:{line}: import inside a function"
        for module in modules()
        for node in module.nodes
        if isinstance(node, functions)
        for _, line in imports(node)
    }
    assert inner == set()


def test_no_star_or_relative_imports() -> None:
    found = [(f"{module.path}:{line}", name) for module in modules() for name, line in module.imports]
    assert [one for one in found if one[1].startswith(".")] == [], "relative imports"
    assert [one for one in found if one[1].endswith(".*")] == [], "star imports"


@pytest.mark.parametrize("entry", ["import mdh", "from mdh.cli.main import run; run(['--help'])"])
def test_the_door_is_light(entry: str) -> None:
    """`import mdh` and `mdh --help` load no parser, no isl, no array library, no library of schemas."""
    code = f"import sys\n{entry}\nprint(*[m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == ""


def test_layers_of_the_hardware_are_no_strings() -> None:
    """`Layer.BLK`, not "BLK": mypy then finds what is misspelt, and a search what belongs together. The table
    of aliases maps words to them, and some of its words are such names in another sense."""
    others = (m for m in modules() if m.name not in {"mdh.hardware", "mdh.schedule.names"})
    assert [place for module in others for place in _layers_as_strings(module)] == []


def _layers_as_strings(module: Module) -> Iterator[str]:
    words = {*Layer, *Space}
    inside = {id(c) for n in module.nodes if isinstance(n, ast.JoinedStr) for c in ast.walk(n)}
    strings = (n for n in module.nodes if isinstance(n, ast.Constant) and isinstance(n.value, str))
    for node in strings:
        if node.value in words and id(node) not in inside:
            yield f"{module.path}:{node.lineno}: {node.value}"


def test_targets_are_asked_for_abilities() -> None:
    """Only what prints, builds or talks to the user compares a target's name: see mdh/language.py."""
    others = (m for m in modules() if not m.name.startswith(("mdh.target.", "mdh.device.", "mdh.cli.")))
    assert [place for module in others for place in _compared_targets(module)] == []


def _compared_targets(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            named = any(
                (isinstance(s, ast.Name) and s.id in {"target", "language"})
                or (isinstance(s, ast.Attribute) and s.attr in {"target", "language"})
                for s in sides
            )
            literal = any(isinstance(s, ast.Constant) and s.value in LANGUAGES for s in sides)
            if named and literal:
                yield f"{module.path}:{node.lineno}: compares a target's name"


def test_shared_parts_of_front_ends_know_no_language() -> None:
    shared = [
        m for m in modules() if m.name.startswith("mdh.frontend.") and not m.name.startswith("mdh.frontend.c")
    ]
    found = [(m.path, line, name) for m in shared for name, line in m.imports]
    assert [one for one in found if one[2].startswith("mdh.frontend.c.")] == []
