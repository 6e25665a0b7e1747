"""Constants have C's types and values, bit for bit."""

import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.expr import Const
from mdh.source import Source
from tests.support.exact_interpreter import interpret
from tests.support.native import compiler


def constant(text: str, ctype: str = "uint64_t") -> Const:
    """What is stored for `text` in an array of the type."""
    (stage,) = read_program(Source("f.c", f"void f({ctype} y[1]) {{ y[0] = {text}; }}")).stages
    found = stage.results[0].values[0]
    assert isinstance(found, Const)
    return found


def _floats(count: int) -> list[str]:
    rng = random.Random(3)
    out = []
    for _ in range(count):
        x = np.float32(rng.uniform(1, 2) * 10.0 ** rng.randint(-40, 37))
        middle = (float(x) + float(np.nextafter(x, np.float32(np.inf)))) / 2
        digits = f"{middle:.60e}".replace("0000000000e", rng.choice(("0000000000", "0000000001", "")) + "e")
        out += [digits, f"{rng.random():.7f}e{rng.randint(-44, 38)}", f"{middle:.16e}"]
    return out


def test_floats_are_rounded_once_as_the_compiler_rounds_them(tmp_path: Path) -> None:
    if compiler() is None:
        pytest.skip("no C compiler")
    texts = _floats(300)
    body = "\n".join(f'  printf("%a\\n", (double){t}f);' for t in texts)
    (tmp_path / "p.c").write_text(f"#include <stdio.h>\nint main(void) {{\n{body}\n  return 0;\n}}\n")
    subprocess.run([str(compiler()), "p.c", "-o", "p"], cwd=tmp_path, check=True, capture_output=True)
    shown = subprocess.run([tmp_path / "p"], check=True, capture_output=True, text=True).stdout.split()
    for text, want in zip(texts, shown, strict=True):
        assert constant(f"{text}f", "float").value == float.fromhex(want), text
    # a C text may hold 400 statements
    for start in range(0, len(texts), 300):
        some = texts[start : start + 300]
        stored = " ".join(f"y[{k}] = {t}f;" for k, t in enumerate(some))
        program = read_program(Source("f.c", f"void f(float y[{len(some)}]) {{ {stored} }}"))
        assert program.syntax is not None
        judged = interpret(program.syntax, {"y": np.zeros(len(some), np.float32)}, {})["y"]
        assert judged.tolist() == [float.fromhex(w) for w in shown[start : start + 300]]


@pytest.mark.parametrize("text", ["18446744073709551680", "0x10000000000000000", "9" * 5000, "1e400", "1e39f",
                                  "0x1p99999999", "0x1p1024", "3.5e38f", "0" * 30 + "7" * 80],
                         ids=lambda t: t[:20])  # fmt: skip
def test_what_no_type_holds_is_refused(text: str) -> None:
    with pytest.raises(Failed) as failed:
        read_program(Source("f.c", f"void f(double y[1]) {{ y[0] = {text}; }}"))
    assert failed.value.diagnostics[0].code == "C124"


@pytest.mark.parametrize(
    "value",
    ["18446744073709551680", 2**64 + 64, 10**5000, "9" * 5000],
    ids=["text", "number", "huge", "digits"],
)
@pytest.mark.parametrize("name", ["M", "n"])
def test_defines_of_more_than_64_bits_are_refused(value: str | int, name: str) -> None:
    text = "void f(int n, float *y) { for (int i = 0; i < n; i++) y[i] = M; }"
    with pytest.raises(Failed) as failed:
        read_program(Source("f.c", text), defines={"M": 4, "n": 4, name: value})
    assert failed.value.diagnostics[0].code in ("C124", "C105")


def test_the_greatest_integers_stay() -> None:
    assert constant("18446744073709551615u").value == 2**64 - 1
    assert constant("0xffffffffffffffff").value == 2**64 - 1
    assert constant("0" * 100 + "17").value == 15


@pytest.mark.parametrize(
    ("text", "ctype"),
    [("1'024", "int"), ("0x2'0", "int"), ("0b1'0", "int"), ("1'0.2'5f", "float"), ("1'2u", "int")],
)
def test_digits_may_stand_apart(text: str, ctype: str) -> None:
    """C23 6.4.4.2; the interpreter reads the text by itself."""
    plain = constant(text.replace("'", ""), ctype)
    assert constant(text, ctype) == plain
    program = read_program(Source("f.c", f"void f({ctype} y[1]) {{ y[0] = {text}; }}"))
    dtype = np.float32 if ctype == "float" else np.int32
    assert interpret(program.syntax, {"y": np.zeros(1, dtype)}, {})["y"][0] == plain.value
