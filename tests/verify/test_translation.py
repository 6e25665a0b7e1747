"""Translation validation: what it agrees to, what it finds, and what it costs."""

from dataclasses import replace
from pathlib import Path

import pytest

from mdh.diagnostics import Failed
from mdh.frontend.bound import BoundText
from mdh.frontend.c.read import bound_text, read_bound
from mdh.frontend.typing_rules import convert
from mdh.ir.program import Program
from mdh.pipeline import Pipeline
from mdh.source import Source
from mdh.verify import comparison, translation
from mdh.verify.comparison import difference, small_program
from mdh.verify.scaling import LADDER, Scale, scaled
from mdh.verify.translation import validate
from tests.soundness.faults import FAULTS, planted
from tests.soundness.generator import random_statements
from tests.soundness.known import HEAD, KNOWN
from tests.support.corpus import WORKLOADS

SUM = "void f(int N, const float *x, float *y) { for (int i = 0; i < N; i++) y[i] = 2.0f * x[i]; }"


def _read(text: str, **sizes: int) -> tuple[BoundText, Program]:
    pre = bound_text(Source("f.c", text), sizes)
    return pre, read_bound(pre)


@pytest.mark.parametrize("name", WORKLOADS)
def test_shipped_programs_agree_at_their_full_sizes(name: str) -> None:
    pre = bound_text(WORKLOADS[name].source, dict(WORKLOADS[name].full))
    small = small_program(pre, read_bound(pre))
    assert small is not None
    assert difference(small) is None


@pytest.mark.parametrize("seed", range(40_000_000, 40_000_060))
def test_random_programs_agree(seed: int) -> None:
    tree = random_statements(seed)
    pre = bound_text(tree.source, tree.defines)
    try:
        program = read_bound(pre)
    except Failed:
        return
    validate(pre, program)


@pytest.mark.parametrize(
    "fault",
    ["conditions are dropped", "a minimum is a maximum", "every start is the operator's identity",
     "prefix sums begin at 0", "the order of two stages is swapped"],
)  # fmt: skip
def test_planted_faults_are_found(fault: str) -> None:
    for seed in range(1, 200):
        tree = random_statements(seed)
        with planted(FAULTS[fault]()):
            try:
                pre = bound_text(tree.source, tree.defines)
                small = small_program(pre, read_bound(pre))
            except Failed:
                continue
            try:
                found = small is not None and difference(small) is not None
            except KeyError:
                # a stage that left its loop reads a counter that there is not
                found = True
            if found:
                return
    pytest.fail("no program shows it")


def test_known_programs_agree() -> None:
    for text, _ in KNOWN.values():
        try:
            pre, program = _read(text)
        except Failed:
            continue
        validate(pre, program)


def test_numbers_keep_their_order_and_their_distance() -> None:
    text = "#line 4096\nx[4095] + y[4097] * 4096.5f + z4096 + '9' + 7 + 300u"
    pre = replace(_read(SUM, N=64)[0], text=text, sizes={"N": 4096, "M": 3, "K": 70_000})
    small = scaled(pre, Scale(5, 4, 8))
    assert small.text == "#line 4096\nx[11] + y[13] * 4096.5f + z4096 + '9' + 7 + 8u"
    assert small.sizes == {"N": 12, "M": 3, "K": 16}


def test_sizes_written_in_the_text_become_small() -> None:
    pre, program = _read("#define N 100000\nvoid f(float y[N]) { for (int i = 1; i < N - 1; i++) y[i] = 2; }")
    small = small_program(pre, program)
    assert small is not None
    assert small.stages[0].dims[0].extent < 20


@pytest.mark.parametrize("size", ["0x2000", "020000u", "1 << 13"])
def test_sizes_of_any_base_become_small(size: str) -> None:
    pre, program = _read(f"void f(float y[{size}]) {{ for (int i = 0; i < {size}; i++) y[i] = 2; }}")
    small = small_program(pre, program)
    assert small is not None
    assert small.stages[0].dims[0].extent < 70


def test_many_numbers_leave_the_program_small() -> None:
    """K has to be larger than all of 0 to 119 for the first scales, which makes it too large to run."""
    lines = "".join(f"for (int i = 0; i < K; i++) y[i] += A[i] * {k};\n" for k in range(120))
    pre, program = _read(f"void f(int K, const float *A, float *y) {{ {lines} }}", K=100_000)
    small = small_program(pre, program)
    assert small is not None
    assert difference(small) is None


@pytest.mark.parametrize(
    "body",
    ["y[0] += 1 << x[i];", "y[i] = 1u << x[i];", "y[i] += 64 >> x[i] % 8;", "y[i] = x[i] << 33 - x[i];"],
)
def test_shifts_by_data_agree(body: str) -> None:
    """C gives a shift by a negative count no meaning, and counts that are drawn may be negative."""
    _, program = _read(f"void f(const int x[9], int y[9]) {{ for (int i = 0; i < 9; i++) {body} }}")
    assert difference(program) is None


@pytest.mark.parametrize("name", ["or_of_real", "and_begun_wider", "or_begun_wider"])
def test_truth_that_is_cut_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wide integers and halves are among the data: 1 << 32 and 0.5 are true, their conversions to int not."""
    monkeypatch.setattr("mdh.frontend.updates._operand", lambda rest, op, dtype: convert(rest, dtype))
    monkeypatch.setattr("mdh.frontend.scans.truth", lambda e: e)
    _, program = _read(HEAD + KNOWN[name][0])
    assert difference(program) is not None


def test_long_strides_draw_no_large_arrays() -> None:
    text = "void f(const float x[2][100000000], float y[2]) { for (int i = 0; i < 2; i++) y[i] = x[i][7]; }"
    pre, program = _read(text)
    small = small_program(pre, program)
    assert small is not None
    assert small.buffer_of["x"].shape[1] < 20


def test_it_is_done_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a process, and by the cache in the next one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(translation, "_known", set())
    pre, program = _read(SUM, N=1000)
    validate(pre, program)

    def never(pre: BoundText, program: Program) -> None:
        raise AssertionError("compared again")

    monkeypatch.setattr(comparison, "misread", never)
    validate(pre, program)
    monkeypatch.setattr(translation, "_known", set())
    validate(pre, program)
    other = replace(program, stages=(replace(program.stages[0], name="other"),))
    with pytest.raises(AssertionError):
        validate(pre, other)


def test_the_pipeline_refuses_a_misread_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "_known", set())
    text = "void f(int N, const int x[N], int y[N]) { for (int i = 0; i < N; i++) if (x[i] > 0) y[i] = 1; }"
    with planted(FAULTS["conditions are dropped"]()), pytest.raises(Failed, match="B102") as found:
        Pipeline().read(Source("f.c", text), defines={"N": 777})
    assert "mdh has misread `f`: y[" in found.value.diagnostics[0].headline


def test_a_ladder_ends() -> None:
    assert len(set(LADDER)) == len(LADDER)
