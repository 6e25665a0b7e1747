"""Rules about the form of steps: their names, numbers, layers, attributes and sizes."""

from tests.check.programs import dot, matmul, matmul_constant, open_matmul, smoothed, swept
from tests.check.rule_cases.case import Case

INNER = "stage O { 1: (de-)comp( 8 ) ( T:SM[1] ; ^ ) ( BLK.x ) 2: (de-)comp( %d ) ( ^ ; ^ ) ( THR.x ) }"
SMOOTHED = "stage O { 1: (de-)comp( 8 ) ( ^ ; ^ ) ( BLK.x ) }"
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
        matmul(),
        ("(de-)comp( 8,8,8 ) ( A:SM[1,2]@window,^ ; ^ ) ( BLK.y, BLK.x, FOR.1 )\n"),
        ["K110 1:31"],
    ),
    Case(matmul(), "(de-)comp( ^,^,^ ) ( ^,^ ; ^ ) ( ^,^,^ )\n" * 33, ["K115 33:1"]),
    Case(matmul(), "fuse i, j\n(de-)comp( 1,^ ) ( ^,^ ; ^ ) ( BLK.x,^ )", ["K116 1:1"]),
    Case(matmul(), "stage C inline", ["K119 1:1"]),
    Case(smoothed(), f"stage T inline @once\n{SMOOTHED}", ["K122 1:16"]),
    Case(smoothed(), f"stage T in O:3 {{ (de-)comp( 1 ) ( ^ ; ^ ) ( THR.x ) }}\n{INNER % 1}", ["K123 1:9"]),
    Case(
        smoothed(own=False),
        f"stage T in O:1 {{ (de-)comp( 1 ) ( ^ ; ^ ) ( THR.x ) }}\n{INNER % 1}",
        ["K124 1:9"],
    ),
    Case(smoothed(), f"stage T in O:1 {{ (de-)comp( 1 ) ( ^ ; ^ ) ( THR.x ) }}\n{INNER % 4}", ["K125 1:9"]),
    Case(smoothed(), f"stage T inline\nstage O online T {SMOOTHED[8:]}", ["K136 2:16"]),
    Case(
        swept(),
        "loop i( i ) { 1: (de-)comp( 8 ) ( FOR.1 ) }\n1: (de-)comp( 1 ) ( ^ ; ^ ) ( ^ )",
        ["K126 1:35"],
    ),
    Case(
        smoothed(), f"stage T inline {{\n1: (de-)comp( 8 ) ( ^ ; ^ ) ( BLK.x )\n}}\n{SMOOTHED}", ["S158 2:1"]
    ),
    Case(
        matmul(),
        ("(de-)comp( ?tm,?,^ ) ( ?,B:?[?] ; C:SM[?,1] ) ( BLK.y,?,? ) @order(grouped(?))\n"),
        ["S154 1:12", "S154 1:16"],
    ),
    Case(
        open_matmul(),
        (
            "0: (de-)comp( 256, ^, ^ ) ( ^,^ ; ^ ) ( ^, ^, ^ )\n"
            "1: (de-)comp( 8, ^, ^ ) ( ^,^ ; ^ ) ( BLK.x, ^, ^ )\n"
        ),
        ["K117 1:15"],
    ),
    Case(
        open_matmul(),
        "1: (de-)comp( 1, ^, ^ ) ( ^,^ ; ^ ) ( THR.x, ^, ^ )\n",
        ["K117 1:39"],
    ),
    Case(
        open_matmul(),
        "1: (de-)comp( 8, 8, ^ ) ( ^,^ ; ^ ) ( BLK.x, BLK.y, ^ ) @order(hilbert)\n",
        ["K118 1:57"],
    ),
    Case(
        matmul_constant(),
        (
            "1: (de-)comp( 1,^,^ ) ( ^,^ ; ^ ) ( BLK.y,^,^ )\n"
            "2: (de-)comp( ^,1,1 ) ( ^,^ ; C:RM[1,2] ) ( ^,FOR.2,FOR.1 ) @unroll\n"
        ),
        ["K177 2:61"],
    ),
)
