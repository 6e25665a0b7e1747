"""Rules about tensor cores and roles."""

from mdh.ir.dtype import F32, F64
from tests.check.programs import matmul
from tests.check.rule_cases.case import Case

CASES = (
    Case(
        matmul(),
        (
            "(de-)comp( 24,16,16 ) ( ^,^ ; ^ ) ( MMA.m,MMA.k,MMA.n )\n"
            "(de-)comp( 8,^,^ ) ( ^,^ ; ^ ) ( ^,^,^ )\n"
        ),
        ["K170 1:1", "K170 1:12", "K170 1:43", "K170 1:49"],
    ),
    Case(
        matmul(),
        (
            "(de-)comp( ^,^,16 ) ( A:SM[1,2],B:SM[1,2] ; C:RM[1,2] ) ( ^,^,^ )\n"
            "(de-)comp( 16,8,16 ) ( ^,^ ; ^ ) ( MMA.m,MMA.n,MMA.k )\n"
        ),
        ["K171 2:1"],
    ),
    Case(
        matmul(dtype=F64),
        (
            "(de-)comp( 16,16,^ ) ( ^,^ ; ^ ) ( BLK.y,BLK.x,^ )\n"
            "(de-)comp( 8,8,4 ) ( ^,^ ; ^ ) ( MMA.m,MMA.n,MMA.k )\n"
        ),
        ["K172 2:1", "K172 2:1"],
    ),
    Case(
        matmul(dtype=F64),
        (
            "(de-)comp( 24,16,8 ) ( A:SM[1,2],B:SM[1,2] ; C:RM[1,2] ) ( BLK.y,BLK.x,^ )\n"
            "(de-)comp( 16,^,^ ) ( ^,^ ; ^ ) ( ^,^,^ )\n"
            "(de-)comp( 8,8,4 ) ( ^,^ ; ^ ) ( MMA.m,MMA.n,MMA.k )\n"
        ),
        ["K173 2:12"],
    ),
    Case(
        matmul(256, 64, 64),
        (
            "(de-)comp( 64,64,^ ) ( ^,^ ; ^ ) ( BLK.y,BLK.x,^ ) @roles(load=1, math=1)\n"
            "(de-)comp( ^,^,32 ) ( A:SM[1,2]@copy(tma),^ ; C:SM[1,2] ) ( ^,^,FOR.1 )\n"
            "(de-)comp( 8,4,^ ) ( ^,^ ; ^ ) ( THR.y,THR.x,^ )\n"
        ),
        ["K174 2:47"],
        machine="h200",
    ),
    Case(
        matmul(dtype=F32),
        (
            "(de-)comp( 64,64,^ ) ( ^,^ ; ^ ) ( BLK.y,BLK.x,^ )\n"
            "(de-)comp( ^,^,32 ) ( A:SM[1,2]@pad(4),B:SM[1,2]@pad(8) ; C:RM[1,2] ) ( ^,^,FOR.1 )\n"
            "(de-)comp( 16,8,8 ) ( ^,^ ; ^ ) ( MMA.m,MMA.n,MMA.k ) @as(tf32)\n"
        ),
        ["K176 3:55"],
    ),
    Case(
        matmul(128),
        (
            "(de-)comp( 16,8,^ ) ( ^,^ ; ^ ) ( BLK.y,BLK.x,^ ) @roles(load=1,math=1)\n"
            "(de-)comp( ^,^,16 ) ( A:SM[1,2],B:SM[1,2] ; ^ ) ( ^,^,^ )\n"
        ),
        ["K174 1:51", "K174 2:23", "K174 2:33"],
        machine="h200",
    ),
)
