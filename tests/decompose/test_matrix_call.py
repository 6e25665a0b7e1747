"""How products become calls of a library: sizes, layouts, loops around them; and why others do not."""

import pytest

from mdh.decompose.contraction import product_of
from mdh.decompose.matrix_call import matrix_call
from mdh.frontend.c.read import read_program
from mdh.ir.expr import Binary, Const, Var
from mdh.ir.library_call import LibraryCall
from mdh.source import Source

SIZES = {"b": 2, "h": 3, "i": 5, "j": 6, "k": 7, "l": 4}


def called(params: str, statement: str, loops: str = "ijk") -> LibraryCall | str:
    nest = " ".join(f"for (int {n} = 0; {n} < {SIZES[n]}; {n}++)" for n in loops)
    program = read_program(Source("f.c", f"void f({params}) {{ {nest} {statement} }}"))
    product = product_of(program, program.stages[0])
    return product if isinstance(product, str) else matrix_call(product, "openblas")


def shape(params: str, statement: str, loops: str = "ijk") -> tuple[object, ...]:
    """Function, sizes, (array, elements between lines, turned), and the loops around."""
    found = called(params, statement, loops)
    assert not isinstance(found, str), found
    c = found.call
    operands = tuple((x.buffer, x.step, x.turned) for x in c.operands)
    return c.function, (c.m, c.n, c.k), operands, found.around


A, AT, B, BT = "const float A[5][7]", "const float A[7][5]", "const float B[7][6]", "const float B[6][7]"


@pytest.mark.parametrize(
    ("left", "right", "read", "wanted"),
    [
        (A, B, "A[i][k] * B[k][j]", (("A", 7, False), ("B", 6, False))),
        (A, BT, "A[i][k] * B[j][k]", (("A", 7, False), ("B", 7, True))),
        (AT, B, "A[k][i] * B[k][j]", (("A", 5, True), ("B", 6, False))),
        (AT, BT, "B[j][k] * A[k][i]", (("A", 5, True), ("B", 7, True))),
    ],
)
def test_each_layout_of_a_product(left: str, right: str, read: str, wanted: tuple[object, ...]) -> None:
    found = shape(f"{left}, {right}, float C[5][6]", f"C[i][j] += {read};")
    assert found == ("cblas_sgemm", (5, 6, 7), (*wanted, ("C", 6, False)), ())


def test_a_turned_result_has_its_factors_exchanged() -> None:
    found = shape(f"{A}, {B}, float C[6][5]", "C[j][i] += A[i][k] * B[k][j];")
    assert found[1:3] == ((6, 5, 7), (("B", 6, True), ("A", 7, True), ("C", 5, False)))


def test_matrix_and_vector() -> None:
    found = shape(
        "const double A[5][7], const double x[14], double y[5]", "y[i] += A[i][k] * x[2 * k];", "ik"
    )
    assert found == ("cblas_dgemv", (5, 1, 7), (("A", 7, False), ("x", 2, False), ("y", 1, False)), ())
    turned = shape("const double A[7][5], const double x[7], double y[5]", "y[i] += x[k] * A[k][i];", "ik")
    assert turned[2] == (("A", 5, True), ("x", 1, False), ("y", 1, False))


def test_a_batch_is_a_loop_and_neighbouring_loops_are_one_side() -> None:
    found = shape(
        "const float A[2][3][5][7], const float B[2][7][6], float C[2][3][5][6]",
        "C[b][h][i][j] += A[b][h][i][k] * B[b][k][j];", "bhijk",
    )  # fmt: skip
    assert found[1] == (15, 6, 7)
    assert found[3] == ("b",)


def test_sides_that_do_not_follow_one_another_leave_loops_around() -> None:
    found = shape(
        "const float A[3][5][7], const float B[7][6], float C[5][3][6]",
        "C[i][h][j] += A[h][i][k] * B[k][j];", "hijk",
    )  # fmt: skip
    assert (found[1], found[3]) == ((5, 6, 7), ("h",))


def test_alpha_and_beta() -> None:
    found = called(
        f"{A}, {B}, float C[5][6], float a, float b",
        "{ float s = 0; for (int k = 0; k < 7; k++) s += A[i][k] * B[k][j]; C[i][j] = a * s + b * C[i][j]; }",
        "ij",
    )
    assert isinstance(found, LibraryCall)
    assert isinstance(found.call.alpha, Var)
    assert isinstance(found.call.beta, Var)
    plain = called(f"{A}, {B}, float C[5][6], float a", "C[i][j] += a * 2.0f * A[i][k] * B[k][j];")
    assert isinstance(plain, LibraryCall)
    assert isinstance(plain.call.alpha, Binary)
    assert isinstance(plain.call.beta, Const)
    assert plain.call.beta.value == 1


@pytest.mark.parametrize(
    ("params", "statement", "why"),
    [
        (f"{A}, {B}, float C[5][6]", "C[i][j] = fmaxf(C[i][j], A[i][k] * B[k][j]);", "it is no sum"),
        (f"{A}, const float B[6], float C[5][6]", "C[i][j] += A[i][k] * B[j];", "runs over one array alone"),
        (f"{A}, {B}, float C[5][6]", "C[i][j] += A[i][k] + B[k][j];", "no sum of products"),
        (f"{A}, {B}, double C[5][6]", "C[i][j] += A[i][k] * B[k][j];", "not all float, or all double"),
        ("const float A[10][14], " + B + ", float C[5][6]", "C[i][j] += A[2 * i][2 * k] * B[k][j];",
         "no loop runs over neighbours of `A`"),
        ("const float A[11], " + B + ", float C[5][6]", "C[i][j] += A[i + k] * B[k][j];", "overlap"),
        ("const float A[5][7], " + B + ", float C[5][6]", "C[i][j] += A[i][6 - k] * B[k][j];",
         "the elements that `k` run over"),
    ],
)  # fmt: skip
def test_what_no_call_computes(params: str, statement: str, why: str) -> None:
    found = called(params, statement)
    assert isinstance(found, str)
    assert why in found


def test_neighbours_that_belong_to_different_products() -> None:
    found = called(
        "const float A[5][7][2], const float B[2][7][6], float C[2][5][6]",
        "C[b][i][j] += A[i][k][b] * B[b][k][j];", "bijk",
    )  # fmt: skip
    assert found == "the neighbours of `A` belong to different products, by loop `b`"


def test_a_sum_over_loops_that_do_not_follow_one_another() -> None:
    found = called(
        "const float A[5][7][4], const float B[4][7][6], float C[5][6]",
        "C[i][j] += A[i][k][l] * B[l][k][j];", "ijkl",
    )  # fmt: skip
    assert isinstance(found, str)
    assert "`k`, `l`" in found
