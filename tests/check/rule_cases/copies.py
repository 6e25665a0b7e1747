"""Rules about what lies in which memory, and about copies."""

from tests.check.programs import gather, histogram, matmul
from tests.check.rule_cases.case import Case

CASES = (
    Case(
        matmul(8, 8, 8),
        (
            "(de-)comp( 4,^,^ ) ( A:RM[1,2],B:DM[2,1] ; C:RM[1,2] ) ( BLK.y,^,^ )\n"
            "(de-)comp( 2,^,^ ) ( A:SM[1,2],^ ; C:SM[1,2] ) ( ^,^,^ )\n"
        ),
        ["K150 2:22", "K150 1:32", "K150 2:36"],
    ),
    Case(
        matmul(256, 256, 256),
        (
            "(de-)comp( ^,^,128 ) ( A:SM[1,2],B:SM[1,2] ; ^ ) ( ^,^,^ ) @stages(2)\n"
            "(de-)comp( 8,8,^) (^,^;^) (THR.y,THR.x,^)\n"
        ),
        ["K152 1:24"],
    ),
    Case(
        matmul(256, 256, 256),
        ("(de-)comp( 16,16,^ ) ( ^,^ ; C:RM[1,2] ) ( THR.y,THR.x,^ )\n"),
        ["K153 1:30"],
    ),
    Case(
        gather(),
        ("(de-)comp( 16,^ ) ( t:RM[1,2],ix:SM[1] ; ^ ) ( THR.y,^ )\n"),
        ["K154 1:21"],
    ),
    Case(
        histogram(),
        ("(de-)comp( 16 ) ( ^ ; h:RM[1] ) ( THR.y )\n"),
        ["K154 1:23"],
    ),
    Case(histogram(op="||"), "(de-)comp( 16 ) ( ^ ; h:SM[1] ) ( ^ )\n", ["K135 1:23"]),
    Case(
        matmul(),
        ("(de-)comp( 8,8,6 ) ( A:SM[2,1]@copy(async,vec=4),B:RM[1,2]@copy(async) ; ^ ) ( ^, ^, ^ )\n"),
        ["K166 1:31", "K166 1:59"],
    ),
    Case(
        matmul(),
        ("(de-)comp( 8,8,6 ) ( A:SM[1,2]@copy(plain,vec=4),B:SM[1,2] ; ^ ) ( ^, ^, ^ )\n"),
        ["K166 1:31"],
    ),
    Case(
        matmul(),
        ("(de-)comp( 8,8,8 ) ( A:SM[1,2]@swizzle(64),B:SM[1,2]@swizzle(32) ; ^ ) ( ^, ^, ^ )\n"),
        ["K167 1:31"],
    ),
    Case(
        matmul(),
        ("(de-)comp( 8,8,8 ) ( A:RM[1,2],B:SM[1,2] ; ^ ) ( ^, ^, FOR.1 ) @stages(2) @unroll(3)\n"),
        ["K168 1:64"],
    ),
)
