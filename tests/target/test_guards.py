"""A macro that is bound from outside has that value in the folder too, whatever the C says of it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from mdh.cli.main import run
from mdh.target.folder import guarded

OWN = """#define N 100000 /* elements,
                    all of them */
#define TWICE(x) \\
    ((x) * 2)
#define SCALE TWICE(1.5f)
#ifndef M
#define M 8
#endif
void own(const float x[N], float y[N])
{
    for (int i = 0; i < N; i++)
        y[i] = SCALE * x[i] + M;
}
void other(int K) { }
"""


def test_the_folder_s_reference_has_the_bound_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("cc") is None or shutil.which("make") is None:
        pytest.skip("no C compiler")
    monkeypatch.chdir(tmp_path)
    Path("own.c").write_text(OWN, encoding="utf-8")
    defines = "-D N=10 -D M=3 -D TWICE=3+ -D K=4"
    words = f"compile own.c --function own {defines} --target c --machine generic-cpu -o out"
    assert run(words.split()) == 0
    subprocess.run(["make", "-s"], cwd="out", check=True, capture_output=True)
    done = subprocess.run(["./own"], cwd="out", check=True, capture_output=True, text=True)
    assert done.stdout.startswith("own: ok (worst error 0)")
    assert "#define K" not in Path("out/reference.c").read_text(encoding="utf-8")


def test_what_needs_no_guard_stays_as_it_is() -> None:
    assert guarded(OWN, frozenset({"M"})) == OWN
    assert guarded(OWN, frozenset()) == OWN


def test_directives_are_guarded_whole() -> None:
    text = "#define A 1 // one /* not open\n  #  define B(x) x \\\n  + 1\n#define A2 2\n#define C"
    wanted = (
        "#ifndef A\n#define A 1 // one /* not open\n#endif\n"
        "#ifndef B\n  #  define B(x) x \\\n  + 1\n#endif\n#define A2 2\n#ifndef C\n#define C\n#endif\n"
    )
    assert guarded(text, frozenset({"A", "B", "C"})) == wanted
