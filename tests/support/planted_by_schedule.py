"""More faults of a code generator, in kernels by given schedules, whose texts are alike on all machines.

Barriers are in texts of several work-items a group. On CPUs a work-item is a turn of a loop, so that such a
kernel is run there by Oclgrind, if it is installed.
"""

from tests.support.planted_faults import BARRIER, BODY, of

CAST = r"(?:\(\w+\))?"
"""Before a subscript, where the target computes it in 64 bits."""
PRODUCTS = """\
1: (de-)comp( 1, 4, 8, ^ ) ( ^, ^ ; ^ )                     ( BLK.z, BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, ^, 5 ) ( ^, B:SM[1,2,3] ; C:RM[1,2,3] ) ( ^, ^, ^, FOR.1 )
3: (de-)comp( ^, 1, 1, 1 ) ( ^, ^ ; ^ )                     ( ^, FOR.2, FOR.3, FOR.1 )
"""
CONVOLUTION = """\
1: (de-)comp( 1, 2, ^, ^, ^, ^, ^ ) ( ^, ^ ; ^ )             ( BLK.y, BLK.x, ^, ^, ^, ^, ^ )
2: (de-)comp( ^, ^, 1, 1, ^, ^, ^ ) ( ^, F:SM[1,2,3,4] ; ^ ) ( ^, ^, FOR.1, FOR.2, ^, ^, ^ )
3: (de-)comp( ^, 1, ^, ^, ^, ^, ^ ) ( ^, ^ ; O:RM[1,2,3,4] ) ( ^, FOR.1, ^, ^, ^, ^, ^ )
4: (de-)comp( ^, ^, ^, ^, 1, 1, 1 ) ( ^, ^ ; ^ )             ( ^, ^, ^, ^, FOR.1, FOR.2, FOR.3 )
"""
GATHER = """\
1: (de-)comp( 4, ^, ^ ) ( ^, ^ ; ^ )         ( BLK.x, ^, ^ )
2: (de-)comp( 1, 8, ^ ) ( I:SM[1,2], ^ ; ^ ) ( FOR.1, FOR.2, ^ )
3: (de-)comp( ^, 1, 1 ) ( ^, ^ ; O:RM[1,2] ) ( ^, FOR.2, FOR.1 )
"""
BYTES = """\
1: (de-)comp( 1000 ) ( ^, ^ ; ^ )             ( BLK.x )
2: (de-)comp( 10 )   ( A:SM[1], ^ ; C:RM[1] ) ( FOR.1 )
3: (de-)comp( 1 )    ( ^, ^ ; ^ )             ( FOR.1 )
"""
GREATEST = """\
1: (de-)comp( 2, ^ )  ( ^ ; ^, ^ )                    ( BLK.y, ^ )
2: (de-)comp( ^, 20 ) ( ^ ; ^, ^ )                    ( ^, BLK.x )
3: (de-)comp( 1, 1 )  ( ^ ; best:RM[1], place:RM[1] ) ( FOR.1, FOR.2 )
"""
RECORDS = """\
1: (de-)comp( 2, ^ ) ( ^, ^, ^, ^, ^, ^, ^, ^, ^, ^ ; ^, ^ )                     ( BLK.x, ^ )
2: (de-)comp( 1, 1 ) ( ^, ^, ^, ^, ^, ^, ^, ^, ^, ^ ; score:RM[1], match:RM[1] ) ( FOR.1, FOR.2 )
"""
WINDOW = """\
1: (de-)comp( 8, 9, ^, ^ ) ( ^, ^ ; ^ )         ( BLK.y, BLK.x, ^, ^ )
2: (de-)comp( ^, ^, ^, ^ ) ( I:SM[1,2], ^ ; ^ ) ( ^, ^, ^, ^ )
3: (de-)comp( 1, 1, ^, ^ ) ( ^, ^ ; O:RM[1,2] ) ( FOR.1, FOR.2, ^, ^ )
4: (de-)comp( ^, ^, 1, 1 ) ( ^, ^ ; ^ )         ( ^, ^, FOR.1, FOR.2 )
"""
HALVES = """\
1: (de-)comp( 7, 9, ^ ) ( ^, ^ ; ^ )         ( BLK.y, BLK.x, ^ )
2: (de-)comp( 1, 1, ^ ) ( ^, ^ ; C:RM[1,2] ) ( FOR.1, FOR.2, ^ )
3: (de-)comp( ^, ^, 1 ) ( ^, ^ ; ^ )         ( ^, ^, FOR.1 )
"""
SCAN = """\
1: (de-)comp( 500 ) ( ^ ; ^ )       ( BLK.x )
2: (de-)comp( 1 )   ( ^ ; S:RM[1] ) ( FOR.1 )
"""
ITEMS = """\
1: (de-)comp( 4, 8, ^ ) ( ^, ^ ; ^ )                         ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 8 ) ( A:SM[1,2], B:SM[1,2] ; C:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( 1, 1, ^ ) ( ^, ^ ; ^ )                         ( THR.y, THR.x, ^ )
4: (de-)comp( ^, ^, 1 ) ( ^, ^ ; ^ )                         ( ^, ^, FOR.1 )
"""
WINDOW_ITEMS = """\
1: (de-)comp( 4, 4, ^, ^ ) ( ^, ^ ; ^ )                 ( BLK.y, BLK.x, ^, ^ )
2: (de-)comp( ^, ^, ^, ^ ) ( I:SM[1,2], ^ ; O:RM[1,2] ) ( ^, ^, ^, ^ )
3: (de-)comp( 1, 1, ^, ^ ) ( ^, ^ ; ^ )                 ( THR.y, THR.x, ^, ^ )
4: (de-)comp( ^, ^, 1, 1 ) ( ^, ^ ; ^ )                 ( ^, ^, FOR.1, FOR.2 )
"""

BY_SCHEDULE = (
    *of(
        "matmul",
        {"M": 8, "N": 16, "K": 20},
        ("lost barrier", BARRIER, "", 0),
        ("lost second barrier", BARRIER, "", 1),
        ("lost barrier at the edge", BARRIER, "", -1),
        ("race: all rows of units write the first", rf"C\[({CAST}[^\]]*)thr_i \*", r"C[\g<1>0 *", 0),
        schedule=ITEMS,
        items=True,
    ),
    *of(
        "filter5x5",
        {"H": 8, "W": 12},
        ("lost barrier behind a window", BARRIER, "", 0),
        schedule=WINDOW_ITEMS,
        items=True,
    ),
    *of(
        "batched_matmul",
        {"BATCH": 3, "M": 8, "N": 16, "K": 13},
        ("an input of another batch", rf"&?B\[{CAST}blk_b \*", "B[0 *", -1),
        ("tile of the step before", r"k_2 \* 80", "(k_2 > 0 ? k_2 - 1 : 0) * 80", 0),
        ("rest of the reduction one too short", r"k_3 < 3;", "k_3 < 2;", 0),
        ("a batch is not written", r"(int blk_b = [^;]+;)", r"\1 if (blk_b == 2) return;", 0),
        schedule=PRODUCTS,
    ),
    *of(
        "conv2d",
        {"N": 2, "H": 5, "W": 7, "C": 3, "K": 6, "R": 3, "S": 2, "STRIDE": 2},
        (
            "accumulator is not cleared for the next element",
            r"(for \(int p_3 = 0; p_3 < 2; \+\+p_3\) \{\s*)(float O_RM = 0\.0f;)",
            r"\2 \1",
            0,
        ),
        ("wrong stride of the window", r"p_3 \* 90", "p_3 * 45", 0),
        ("window one too short", r"s_4 < 2;", "s_4 < 1;", 0),
        ("filter is staged transposed", r"c_F1 \* 6 \+ c_F2 \* 3(.*=)", r"c_F1 * 3 + c_F2 * 6\1", 0),
        ("tile at the edge is not written", r"\} else \{(\s*// tiles cut)", r"} else if (0) {\1", 0),
        ("tile at the edge is one off", r"\+ 168\] = ", "+ 167] = ", 0),
        schedule=CONVOLUTION,
    ),
    *of(
        "gather_sum",
        {"BAGS": 10, "LENGTH": 13, "ROWS": 40, "D": 45},
        ("an index is not looked up", r"I_SM\[l_3\] \* 45", "l_3 * 45", 0),
        ("row of the table without its stride", r"I_SM\[l_3\] \* 45", "I_SM[l_3]", 0),
        ("reads its old output", r"if \(l_3 == 0\)", "if (0)", 0),
        ("last index of a bag is left out", r"l_3 < 13;", "l_3 < 12;", 0),
        ("indices of the first bag for all", rf"(= I\[{CAST}blk_b \* 52) \+ b_2 \* 13", r"\1", 0),
        ("an index array is written", BODY, r"\1 ((__global int *)I)[0] = 7;", 0),
        schedule=GATHER,
    ),
    *of(
        "dot_int8",
        {"K": 7500},
        ("bytes without their sign", r"\(int\)A_SM\[k_3\]", "((int)A_SM[k_3] & 255)", 0),
        ("sum of a block is cut to 8 bits", r"(dot_int8_part\[blk_k\] = )C_RM;", r"\1C_RM << 24 >> 24;", 0),
        ("race: blocks write one place", r"dot_int8_part\[blk_k\] = C_RM;", "dot_int8_part[0] = C_RM;", 0),
        ("last block is not combined", r"part_3 < 8;", "part_3 < 7;", 0),
        ("bytes combined by the wrong operator", r"C_RM \+= ", "C_RM -= ", 0),
        schedule=BYTES,
    ),
    *of(
        "row_argmax",
        {"M": 7, "N": 45},
        ("ties go to the later block", r"(v_best_RM1 )<( h_best_RM1)", r"\1>\2", None),
        ("places are counted within a block", r"= blk_j \* 20 \+ j_3;", "= j_3;", 0),
        ("places of another row", r"row_argmax_part_pos\[(.*) \+ blk_i\]", r"row_argmax_part_pos[\1]", 0),
        ("race: blocks share a partial result", rf"(row_argmax_part\[{CAST})blk_j \*", r"\g<1>0 *", 0),
        schedule=GREATEST,
    ),
    *of(
        "prl",
        {"I": 9, "J": 40},
        ("a field of the record before", r"== sex\[j_2\]", "== sex[j_2 > 0 ? j_2 - 1 : 0]", 0),
        ("ties go to the last record", r"v_score_RM > h_score_RM", "v_score_RM >= h_score_RM", None),
        ("a field without its weight", r"\? 9\.5f :(\s+)-4\.25f", r"? 0.0f :\g<1>0.0f", 0),
        ("last record is not looked at", r"j_2 < 40;", "j_2 < 39;", None),
        schedule=RECORDS,
    ),
    *of(
        "filter5x5",
        {"H": 20, "W": 27},
        ("border of a window is not staged", r"c_I1 < 13;", "c_I1 < 12;", 0),
        ("window turned around", r"q_3 \+ s_4\]", "q_3 + 4 - s_4]", 0),
        ("missing guard at the edge", r"p_3 < 4;", "p_3 < 8;", 0),
        schedule=WINDOW,
    ),
    *of(
        "matmul_half",
        {"M": 21, "N": 27, "K": 35},
        ("bits of a 16-bit float taken for a number", r"f16_to_f32\((A\[[^\]]*\])\)", r"(float)(\1)", 0),
        ("16-bit columns in reverse", r"(\* f16_to_f32\(B\[[^\]]*\+\s+)j_2\]", r"\g<1>8 - j_2]", 0),
        ("half of a 16-bit result is lost", r"(C\[[^\]]*\] = )(f16_from_f32\(C_RM\))", r"\1\2 & 0xff00", 0),
        schedule=HALVES,
    ),
    *of(
        "prefix_sum",
        {"N": 3001},
        ("a block counts its own sum twice", r"(prefix_sum_prefix_\[part_3\] = )held;", r"\1prefix;", 0),
        ("exclusive for inclusive in a block", r"S_RM = prefix;", "S_RM = held;", 0),
        ("a prefix is not carried on", r"S_RM_2 = prefix;", ";", 0),
        schedule=SCAN,
    ),
)
