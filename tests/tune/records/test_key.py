"""Any change that could change a result changes the key; a change of text alone does not."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from mdh.tuner.records.key import Setting, candidate_key
from tests.tune.records.samples import C_TEXT, SETTING, TEMPLATE, program, schedule

Case = tuple[str, str, Setting, dict[str, int | str], bool]
START: Case = (C_TEXT, TEMPLATE, SETTING, {}, False)


def key_of_case(case: Case) -> str:
    text, template, setting, defines, strict = case
    return candidate_key(program(text, strict_fp=strict, **defines), schedule(template), setting)


def _c(old: str, new: str, case: Case) -> Case:
    assert old in case[0]
    return (case[0].replace(old, new), *case[1:])


def _s(old: str, new: str, case: Case) -> Case:
    assert old in case[1]
    return (case[0], case[1].replace(old, new), *case[2:])


def _at(case: Case, **changes: object) -> Case:
    return (case[0], case[1], replace(case[2], **changes), case[3], case[4])  # type: ignore[arg-type]


def _machine(case: Case, **changes: object) -> Case:
    return _at(case, machine=replace(SETTING.machine, **changes))  # type: ignore[arg-type]


def _defines(case: Case, **defines: int | str) -> Case:
    return (*case[:3], defines, case[4])


def _limited(case: Case, limit: int) -> Case:
    text = case[0].replace("#endif", f"#endif\n#define LIMIT {limit}")
    return (text, case[1].replace("N * 4", "LIMIT"), *case[2:])


CHANGES: dict[str, Callable[[Case], Case]] = {
    "size by define": partial(_defines, N=128),
    "size in the text": partial(_c, "#define N 64", "#define N 65"),
    "one extent": partial(_c, "k < N", "k < N - 1"),
    "start of a loop": partial(_c, "k = 0", "k = 1"),
    "step of a loop": partial(_c, "k++", "k += 2"),
    "type of all": partial(_c, "float", "double"),
    "type of an input": partial(_c, "const float A", "const double A"),
    "16-bit input": partial(_c, "const float B", "const _Float16 B"),
    "type of the output": partial(_c, "float C", "double C"),
    "operation": partial(_c, "A[i][k] * B", "A[i][k] + B"),
    "swapped operands": partial(_c, "A[i][k] * B[k][j]", "B[k][j] * A[i][k]"),
    "constant": partial(_c, "A[i][k] * B", "2 * A[i][k] * B"),
    "another constant": partial(_c, "A[i][k] * B", "3 * A[i][k] * B"),
    "sign of zero": partial(_c, "A[i][k] * B[k][j]", "A[i][k] * B[k][j] + -0.0f"),
    "zero": partial(_c, "A[i][k] * B[k][j]", "A[i][k] * B[k][j] + 0.0f"),
    "precision of a function": partial(_c, "A[i][k] *", "sqrt(A[i][k]) *"),
    "function": partial(_c, "A[i][k] *", "sqrtf(A[i][k]) *"),
    "index": partial(_c, "A[i][k]", "A[k][i]"),
    "combine operator": partial(_c, "C[i][j] += A[i][k] * B[k][j]",
                                "C[i][j] = fmaxf(C[i][j], A[i][k] * B[k][j])"),
    "start of the sum": partial(_c, "            for (int k", "          { C[i][j] = 0; for (int k"),
    "order of loops": partial(_c, "for (int i = 0; i < N; i++)\n        for (int j = 0; j < N; j++)",
                              "for (int j = 0; j < N; j++)\n        for (int i = 0; i < N; i++)"),
    "name of the function": partial(_c, "void matmul", "void product"),
    "consent": partial(_c, "C[N][N]) {", "C[N][N]) {\n#pragma mdh allow(tf32)"),
    "strict floats": lambda case: (*case[:4], True),
    "deterministic": partial(_at, deterministic=True),
    "target": partial(_at, target="opencl"),
    "device": partial(_at, title="NVIDIA H200 NVL"),
    "check level": partial(_at, check="4 inputs"),
    "version of mdh": partial(_at, versions=(("mdh", "0.2.0"), *SETTING.versions[1:])),
    "version of the compiler": partial(_at, versions=(("nvrtc", "13.1"), *SETTING.versions[::2])),
    "version of the driver": partial(_at, versions=(*SETTING.versions[:2], ("driver", "580.2"))),
    "one more version": partial(_at, versions=(*SETTING.versions, ("runtime", "1"))),
    "name of the machine": partial(_machine, name="h200b"),
    "limit of the machine": partial(_machine, registers_per_thread=128),
    "vectors of the machine": partial(_machine, vector_bytes=32),
    "values of a hole": partial(_s, "?bm{8,16}", "?bm{8,32}"),
    "name of a hole": partial(_s, "?bm", "?bq"),
    "bound hole": partial(_s, "?bn{8,16}", "16"),
    "condition": partial(_s, "<= N * 4", "<= N * 2"),
    "macro of a condition": lambda case: _limited(case, 256),
    "value of that macro": lambda case: _limited(case, 128),
    "layer": partial(_s, "BLK.y, BLK.x", "BLK.x, BLK.y"),
    "layout": partial(_s, "C:RM[1,2]", "C:RM[2,1]"),
    "attribute": partial(_s, "( ^,^,FOR.1 )", "( ^,^,FOR.1 ) @unroll"),
    "label": partial(_s, "2: (de", "3: (de"),
    "tile": partial(_s, "( ^,^,1 )", "( ^,^,2 )"),
}  # fmt: skip


def applied(name: str) -> Case:
    case = CHANGES[name](START)
    if name == "start of the sum":
        return (case[0].replace("B[k][j];", "B[k][j]; }"), *case[1:])
    return case


SPELLINGS_OF_C = (
    ("for (int i", "/* rows */ for (int i"),
    ("void matmul", "// the product\nvoid matmul"),
    ("        for", "\tfor"),
    ("\n", "\r\n"),
    ("A[i][k] * B[k][j]", "(A[i][k]) * (B[k][j])"),
    ("int k = 0; k < N", "int k = 0; k <= N - 1"),
)
SPELLINGS_OF_SCHEDULES = (
    ("1: (de", "// blocks\n1: (de"),
    ("( ^,^,FOR.1 )", "( ^, ^,\n\n FOR.1 ) // along k"),
    ("(de-)comp", "(de/re)-comp"),
    ("1: (de", "target h200\nprogram matmul\n1: (de"),
    ("( ^,^,FOR.1 )", "( ^,^,FOR.1 ) @stages(1)"),
)


def respelled_c(old: str, new: str) -> Case:
    return _c(old, new, START)


def respelled_schedule(old: str, new: str) -> Case:
    return _s(old, new, START)


def test_every_change_changes_the_key() -> None:
    keys = {name: key_of_case(applied(name)) for name in CHANGES}
    assert len(keys) >= 40
    assert len({key_of_case(START), *keys.values()}) == len(keys) + 1


def test_a_macro_that_no_condition_names_does_not() -> None:
    assert key_of_case(START) == key_of_case(
        (C_TEXT.replace("#endif", "#endif\n#define LIMIT 256"), *START[1:])
    )


@pytest.mark.parametrize(("old", "new"), SPELLINGS_OF_C)
def test_text_alone_does_not_in_the_c(old: str, new: str) -> None:
    assert key_of_case(respelled_c(old, new)) == key_of_case(START)


def test_what_drivers_measure_does_not() -> None:
    assert key_of_case(_machine(START, clock=1.0e9, memory=1, bandwidth=1.0)) == key_of_case(START)


def test_what_only_estimates_look_at_does_not() -> None:
    assert key_of_case(_machine(START, partitions=1)) == key_of_case(START)


def test_names_of_loop_variables_do_not() -> None:
    text = C_TEXT.replace("int i ", "int row ").replace("i <", "row <").replace("i++", "row++")
    assert key_of_case((text.replace("[i]", "[row]"), *START[1:])) == key_of_case(START)


def test_names_of_locals_do_not() -> None:
    body = "{ float t = A[i][k] * B[k][j]; C[i][j] += t * t; }"
    text = C_TEXT.replace("C[i][j] += A[i][k] * B[k][j];", body)
    assert key_of_case((text, *START[1:])) == key_of_case(
        (text.replace("t * t", "u * u").replace("float t", "float u"), *START[1:])
    )


@pytest.mark.parametrize(("old", "new"), SPELLINGS_OF_SCHEDULES)
def test_text_alone_does_not_in_the_schedule(old: str, new: str) -> None:
    assert key_of_case(respelled_schedule(old, new)) == key_of_case(START)


def test_a_candidate_has_a_key_of_its_own() -> None:
    one = schedule(TEMPLATE.replace("?bm{8,16}", "8").replace("?bn{8,16}", "8").replace("?bm * ?bn", "64"))
    assert candidate_key(program(), one, SETTING) != candidate_key(program(), schedule(), SETTING)
    assert candidate_key(program(), one, SETTING) == candidate_key(program(), one, SETTING)
