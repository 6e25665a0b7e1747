"""Rules about how many threads, blocks and vectors there are, and what is not lowered."""

from tests.check.programs import matmul
from tests.check.rule_cases.case import Case

CASES = (
    Case(
        matmul(),
        ("(de-)comp( 1,1,^ ) ( ^,^ ; ^ ) ( THR.y, THR.x, ^ )\n"),
        ["K160 1:34"],
    ),
    Case(
        matmul(256),
        ("(de-)comp( 1,^,^ ) ( ^,^ ; ^ ) ( THR.z, ^, ^ )\n"),
        ["K161 1:34"],
    ),
    Case(
        matmul(70000),
        ("(de-)comp( 1,^,^ ) ( ^,^ ; ^ ) ( BLK.y, ^, ^ )\n"),
        ["K162 1:34"],
    ),
    Case(
        matmul(256),
        ("(de-)comp( 64,^,^ ) ( ^,^ ; ^ ) ( CLU.y, ^, ^ )\n(de-)comp( 4,^,^ ) ( ^,^ ; ^ ) ( BLK.y, ^, ^ )\n"),
        ["K163 2:34"],
        machine="h100",
    ),
    Case(
        matmul(256),
        ("(de-)comp( 64,^,^ ) ( ^,^ ; ^ ) ( CLU.y, ^, ^ )\n"),
        ["K163 1:35"],
    ),
    Case(
        matmul(),
        ("(de-)comp( ^,8,^ ) ( ^,^ ; ^ ) ( ^, VEC.x, ^ )\n(de-)comp( ^,1,^ ) ( ^,^ ; ^ ) ( ^, VEC.y, ^ )\n"),
        ["K164 1:37", "K164 2:37"],
        machine="generic-cpu",
        target="opencl",
    ),
    Case(
        matmul(),
        ("(de-)comp( 8,8,8 ) ( A:SM[1,2]@copy(async),B:SM[1,2]@copy(tma else async) ; ^ ) ( ^, ^, ^ )\n"),
        ["K165 1:31", "K165 1:53"],
        machine="v100",
    ),
    Case(
        matmul(256, 64, 4),
        (
            "(de-)comp(128,^,^) (A:SM[1,2]@copy(tma),^ ; ^) (DEV.x,^,^)\n"
            "(de-)comp(64,^,^)(^,^;^)(WGP.y,^,^)\n"
            "(de-)comp( 1,32,^ ) ( ^,^ ; ^ ) ( THR.y,THR.x,^ )\n"
        ),
        ["K190 1:49", "K190 2:26"],
        machine="h200",
    ),
)
