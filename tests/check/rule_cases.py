"""For every rule the smallest schedule that it refuses, with the codes and places of its messages."""

from dataclasses import dataclass

from mdh.ir.dtype import F16, F32, F64
from mdh.ir.program import Program
from tests.check.programs import dot, gather, histogram, matmul, rowsum, scan


@dataclass(frozen=True)
class Case:
    program: Program
    text: str
    found: list[str]
    machine: str = "a100"
    target: str = "cuda"
    deterministic: bool = False


CASES = (
    Case(
        matmul(),
        (
            "1: (de-)comp( 32,32,^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )\n"
            "2: (de-)comp( ^,^,8 ) ( ^ ; ^,^ ) ( ^,^,FOR.1 )\n"
        ),
        ["K101 2:25", "K101 2:31"],
    ),
    Case(
        dot(),
        ("(de-)comp( 32,32,^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )\n(de-)comp( ^,^,8 ) ( ^,^ ; ^ ) ( ^,^,^ )\n"),
        ["S150 1:1"],
    ),
    Case(
        matmul(),
        ("(de-)comp( 32,32,^ ) ( B:SM[1,2],X:SM[1,2] ; A:RM[1,2] ) ( BLK.y, BLK.x, ^ )\n"),
        ["K102 1:24", "K102 1:34", "K102 1:46"],
    ),
    Case(
        matmul(),
        (
            "1: (de-)comp( 32,32,^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )\n"
            "(de-)comp( ^,^,8 ) ( ^,^ ; ^ ) ( ^,^,^ )\n"
        ),
        ["K103 2:1"],
    ),
    Case(
        matmul(),
        (
            "1: (de-)comp( 32,32,^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )\n"
            "1: (de-)comp( ^,^,8 ) ( ^,^ ; ^ ) ( ^,^,^ )\n"
            "5: (de-)comp( ^,^,8 ) ( ^,^ ; ^ ) ( ^,^,^ )\n"
        ),
        ["K103 2:1", "K103 3:1"],
    ),
    Case(
        matmul(),
        (
            "0: (de-)comp( 64,32,64 ) ( A:SM[1,2],^ ; C:DM[2,1] ) ( ^,^,^ )\n"
            "1: (de-)comp( ^,^,8 ) ( ^,^ ; ^ ) ( ^,^,^ )\n"
        ),
        ["S150 1:18", "K103 1:28", "K103 1:42"],
    ),
    Case(
        matmul(),
        (
            "(de-)comp( 32,128,^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )\n"
            "(de-)comp( 48,^,8 ) ( ^,^ ; ^ ) ( ^,^,^ )\n"
        ),
        ["K104 1:15", "K104 2:12"],
    ),
    Case(
        matmul(),
        ("(de-)comp( 32,16,^ ) ( ^,^ ; ^ ) ( CLU.y, BLK.x, ^ )\n"),
        ["K105 1:36"],
        machine="h200",
        target="opencl",
    ),
    Case(
        matmul(),
        (
            "2: (de-)comp( 32,16,^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )\n"
            "1: (de-)comp( 4,4,^ ) ( ^,^ ; ^ ) ( THR.y, THR.x, ^ )\n"
        ),
        ["K106 1:39"],
    ),
    Case(
        matmul(),
        ("(de-)comp( 32,16,^ ) ( ^,^ ; ^ ) ( BLK.x, BLK.x, ^ )\n"),
        ["K107 1:43"],
    ),
    Case(
        matmul(),
        ("(de-)comp( 8,8,8 ) ( A:SM[1,1],B:SM[1] ; ^ ) ( BLK.y, BLK.x, ^ )\n"),
        ["K109 1:22", "K109 1:32"],
    ),
    Case(
        matmul(),
        (
            "(de-)comp( 2,2,^ ) ( A:RM[1,2]@pad(4),^ ; ^ ) ( BLK.y, BLK.x, ^@cyclic(2) ) @stages(2)\n"
            "(de-)comp( 1,1,^ ) ( ^@copy(async),^ ; ^ ) ( ^,^,^ ) @stages(2) @order(hilbert) @atom(mma)\n"
        ),
        [
            "K110 1:64",
            "K110 1:31",
            "K110 2:23",
            "K110 2:81",
            "K110 2:65",
            "K110 1:77",
            "K110 2:54",
        ],
    ),
    Case(
        matmul(),
        (
            "(de-)comp( 32,16,^ ) ( ^,^ ; ^ ) ( WRP.y, WRP.x, ^ )\n"
            "(de-)comp( 2,2,^ ) ( ^,^ ; ^ ) ( THR.y, THR.x, ^ )\n"
        ),
        ["K112 2:34"],
    ),
    Case(
        matmul(),
        ("(de-)comp( 32,16,^ ) ( ^,^ ; ^ ) ( WRP.y, WRP.x, ^ )\n"),
        ["K113 1:36"],
    ),
    Case(
        matmul(),
        ("(de-)comp( 32,16,^ ) ( ^,^ ; ^ ) ( FOR.1, FOR.1, ^ )\n"),
        ["K114 1:43"],
    ),
    Case(
        matmul(12, 12, 12),
        ("(de-)comp( 6,^,^ ) ( ^,^ ; ^ ) ( THR.y@cyclic(4), ^, ^ )\n"),
        ["K120 1:34"],
    ),
    Case(
        matmul(48, 12, 12),
        (
            "(de-)comp( 24,^,^ ) ( ^,^ ; ^ ) ( THR.y@cyclic(4), ^, ^ )\n"
            "(de-)comp( 6,^,^ ) ( ^,^ ; ^ ) ( ^, ^, ^ )\n"
        ),
        ["K121 2:12"],
    ),
    Case(
        scan(),
        ("2: (de-)comp( 128 ) ( ^ ; ^ ) ( ^ )\n1: (de-)comp( 4 ) ( ^ ; ^ ) ( THR.x )\n"),
        ["K130 2:15"],
    ),
    Case(
        scan(),
        ("(de-)comp( 128 ) ( ^ ; ^ ) ( THR.x@cyclic(4) )\n"),
        ["K130 1:30"],
    ),
    Case(
        scan(),
        ("(de-)comp( 64 ) ( ^ ; ^ ) ( WRP.x )\n(de-)comp( 2 ) ( ^ ; ^ ) ( THR.x )\n"),
        ["K131 1:29"],
    ),
    Case(
        matmul(strict=True),
        ("(de-)comp( 4,4,16 ) ( ^,^ ; ^ ) ( ^,^,THR.x )\n"),
        ["K132 1:39"],
    ),
    Case(
        rowsum(strict=True),
        ("2: (de-)comp( ^,2,^ ) ( ^ ; ^ ) ( ^,^,^ )\n1: (de-)comp( ^,^,4 ) ( ^ ; ^ ) ( ^,^,^ )\n"),
        ["K132 2:19"],
    ),
    Case(
        histogram(dtype=F32),
        ("(de-)comp( 128 ) ( ^ ; ^ ) ( ^ )\n(de-)comp( 1 ) ( ^ ; h:SM[1] ) ( THR.x )\n"),
        ["K133 2:34"],
        deterministic=True,
    ),
    Case(
        matmul(8, 8, 64),
        ("(de-)comp( ^,^,16 ) ( ^,^ ; C:RM[1,2] ) ( ^,^,BLK.x )\n"),
        ["K140 1:47"],
    ),
    Case(
        matmul(),
        ("(de-)comp( ^,8,^ ) ( ^,^ ; ^@combine(kernel) ) ( ^,BLK.x,^ )\n"),
        ["K141 1:29"],
    ),
    Case(
        scan(),
        ("(de-)comp( 64 ) ( ^ ; ^@combine(atomic) ) ( BLK.x )\n"),
        ["K141 1:24"],
    ),
    Case(
        matmul(dtype=F16),
        ("(de-)comp( ^,8,16 ) ( ^,^ ; ^@combine(atomic) ) ( ^,BLK.x,BLK.y )\n"),
        ["K142 1:30"],
    ),
    Case(
        dot(op="max"),
        ("(de-)comp( 16 ) ( ^,^ ; ^@combine(atomic) ) ( BLK.y )\n"),
        ["K142 1:26"],
    ),
    Case(
        dot(),
        ("(de-)comp( 16 ) ( ^,^ ; ^@combine(ticket) ) ( BLK.y )\n"),
        ["K143 1:26"],
        machine="h200",
        target="opencl",
    ),
    Case(
        dot(),
        ("(de-)comp( 16 ) ( ^,^ ; ^@combine(shuffle) ) ( THR.y )\n"),
        ["K144 1:26"],
    ),
    Case(
        dot(),
        (
            "(de-)comp( 16 ) ( ^,^ ; ^@combine(ticket) ) ( BLK.y )\n"
            "(de-)comp( 2 ) ( ^,^ ; ^@combine(kernel) ) ( ^ )\n"
        ),
        ["K145 2:25"],
    ),
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
        ("(de-)comp( 16,^ ) ( t:SM[1,2],ix:SM[1] ; ^ ) ( THR.y,^ )\n"),
        ["K154 1:21"],
    ),
    Case(
        histogram(),
        ("(de-)comp( 16 ) ( ^ ; h:RM[1] ) ( THR.y )\n"),
        ["K154 1:23"],
    ),
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
    Case(
        matmul(),
        ("(de-)comp( 8,8,8 ) ( A:SM[1,2]@window,^ ; ^ ) ( BLK.y, BLK.x, FOR.1 )\n"),
        ["K110 1:31"],
    ),
    Case(
        histogram(dtype=F16),
        ("(de-)comp( 4 ) ( ^ ; ^ ) ( THR.x )\n"),
        ["K142 1:28"],
    ),
    Case(
        histogram(),
        ("(de-)comp( 4 ) ( ^ ; ^@combine(ticket) ) ( BLK.x )\n"),
        ["K141 1:23"],
    ),
    Case(matmul(), "(de-)comp( ^,^,^ ) ( ^,^ ; ^ ) ( ^,^,^ )\n" * 33, ["K115 33:1"]),
    Case(matmul(), "fuse i, j\n(de-)comp( 1,^ ) ( ^,^ ; ^ ) ( BLK.x,^ )", ["K116 1:1"]),
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
        matmul(),
        (
            "(de-)comp( 4,4,^ ) ( ^,^ ; ^ ) ( BLK.y,BLK.x,^ ) @persistent\n"
            "(de-)comp( ^,^,8 ) ( ^,^ ; C:RM[1,2]@combine(stream) ) ( ^,^,FOR.1 )\n"
        ),
        ["K146 2:37"],
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
        matmul(256, 64, 4),
        (
            "(de-)comp(128,^,^) (A:SM[1,2]@copy(tma),^ ; ^) (DEV.x,^,^)\n"
            "(de-)comp(64,^,^)(^,^;^)(WGP.y,^,^)\n"
            "(de-)comp( 1,32,^ ) ( ^,^ ; ^ ) ( THR.y,THR.x,^ )\n"
        ),
        ["K190 1:49", "K190 2:26"],
        machine="h200",
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
    Case(
        matmul(),
        ("(de-)comp( ?tm,?,^ ) ( ?,B:?[?] ; C:SM[?,1] ) ( BLK.y,?,? ) @order(grouped(?))\n"),
        ["S154 1:12", "S154 1:16"],
    ),
)
