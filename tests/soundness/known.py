"""Programs that were once accepted and wrong, and what is expected of each.

The first ones are strangers'; the others were found by `scripts/soundness` and made small by it.
"""

from collections.abc import Mapping

N = 7
HEAD = f"#include <math.h>\n#include <stdint.h>\n#define N {N}\n#define M 5\n"
ANY = "right or refused"
"""What is expected: this, `right`, or the code of a refusal."""

KNOWN: Mapping[str, tuple[str, str]] = {
    # integers wrap on every device, also where they are converted or compared afterwards
    "overflow_widened": ("void f(int64_t x[N], const int y[N], int z[N]) { for (int i = 0; i < N; i++)"
        " for (int j = 0; j < 3; j++) { z[i] *= y[i]; x[i] = z[i]; } }", ANY),
    "overflow_of_a_sum_widened": ("void f(int64_t x[N], const int z[N], const int w[N]) {"
        " for (int i = 0; i < N; i++) x[i] += (z[i] - w[i]) * z[i] + -z[i]; }", "right"),
    "overflow_compared": ("void f(const int x[N], const int w[N], int64_t m[1], int p[1]) {"
        " m[0] = -90; p[0] = -1; for (int i = 0; i < N; i++)"
        " if (m[0] < (int64_t)(x[i] * w[i])) { m[0] = (int64_t)(x[i] * w[i]); p[0] = i; } }", "right"),
    "overflow_to_float": ("void f(const int x[N], const uint16_t w[N], double y[N]) {"
        " for (int i = 0; i < N; i++) y[i] = x[i] + 1 > x[i] ? x[i] * 3 : w[i] * w[i]; }", "right"),
    "overflow_of_a_total": ("void f(const int A[N][64], int64_t y[N]) { for (int i = 0; i < N; i++) {"
        " int s = 0; for (int j = 0; j < 64; j++) s += A[i][j]; y[i] = s; } }", "right"),
    # what && and || join is true or false before it is converted to anything
    "and_of_long": ("void f(const int64_t x[N], const int w[N], int y[1]) { y[0] = 5;"
        " for (int i = 0; i < N; i++) y[0] = y[0] && (x[i] | 1ll << 32) && w[i] != 77; }", "right"),
    "or_of_real": ("void f(const float x[N], const float w[N], int y[1]) { y[0] = 0;"
        " for (int i = 0; i < N; i++) y[0] = y[0] || x[i] || w[i] == 77; }", "right"),
    "or_of_real_behind": ("void f(const float x[N], const float w[N], int y[1]) { y[0] = 0;"
        " for (int i = 0; i < N; i++) y[0] = w[i] == 77 || (x[i] || y[0]); }", "right"),
    "histogram_of_truth": ("void f(const int64_t x[N], const int p[N], int y[N]) {"
        " for (int i = 0; i < N; i++) y[p[i]] = y[p[i]] || x[i] || p[i] == 77; }", "right"),
    "prefix_of_truth": ("void f(const double x[N], int y[N]) {"
        " for (int i = 1; i < N; i++) y[i] = y[i - 1] || x[i] || x[i] == 77; }", "right"),
    "truth_of_a_choice": ("void f(const float x[N], const float w[N], int y[1]) { y[0] = 0;"
        " for (int i = 0; i < N; i++) y[0] = y[0] || (x[i] > 1 ? x[i] * 1e-9f : 0) || w[i] == 7; }", "right"),
    "and_begun_wider": ("void f(const int64_t x[N], const int w[1], int8_t y[N]) {"
        " for (int i = 0; i < N; i++) y[i] = (i > 0 ? y[i - 1] : w[0]) && x[i]; }", "right"),
    "or_begun_wider": ("void f(const int64_t x[N], const int64_t w[1], int y[N]) {"
        " for (int i = 0; i < N; i++) y[i] = (i > 0 ? y[i - 1] : w[0]) || x[i] == 3; }", "right"),
    # a counter hides a parameter that an expression has met before
    "hidden_parameter": ("void f(int n, int x[N]) {"
        " int t = n * 2; for (int n = 0; n < N; n++) x[n] = t; }", "right"),
    "parameter_named_like_a_counter": ("void f(int i_2, int x[N][M]) { for (int i = 0; i < N; i++) {"
        " int t = i; for (int i = 0; i < M; i++) x[t][i] = i_2 + i; } }", "right"),
    "parameter_called_one": ("void f(int one, int x[1]) { x[0] = one; }", "right"),
    # two parts of a record in one element, or at an index that is data
    "record_over_itself": ("void f(const int A[N][M], int m[N][N]) { for (int i = 0; i < N; i++)"
        " for (int j = 0; j < M; j++) if (A[i][j] > m[i][0]) { m[i][0] = A[i][j]; m[i][i] = j; } }", ANY),
    "record_at_data": ("void f(const int A[M], int m[1], int w[N], const int q[1]) {"
        " for (int j = 0; j < M; j++) if (A[j] > m[0]) { m[0] = A[j]; w[q[0]] = j; } }", ANY),
    # the first value of a prefix is stored as it is, and not as 0 or 1
    "prefix_and": ("void f(const int x[N], const int y[N], int S[N]) {"
        " for (int i = 0; i < N; i++) S[i] = i > 0 ? S[i - 1] && x[i] : y[i]; }", ANY),
    "prefix_or_begun": ("void f(const int x[N], const int y[N], int S[N]) {"
        " S[0] = y[0]; for (int i = 1; i < N; i++) S[i] = S[i - 1] || x[i]; }", ANY),
    "prefix_begun_in_place": ("void f(int S[N]) {"
        " S[0] = S[0] * 3; for (int i = 1; i < N; i++) S[i] = S[i - 1] + S[i]; }", ANY),
    # a flag that is not raised leaves its element, which epilogues go on with
    "flag_and_ends": ("void f(const int A[N][M], int some[N], int w[N]) { for (int i = 0; i < N; i++) {"
        " for (int j = 0; j < M; j++) if (A[i][j] > 2) some[i] = 9;"
        " some[i] = some[i] + 1; w[i] = some[i]; } }", "right"),
    "flag_read_before_its_end": ("void f(const int A[N][M], int some[N], int w[N]) {"
        " for (int i = 0; i < N; i++) { for (int j = 0; j < M; j++) if (A[i][j] > 2) some[i] = 9;"
        " w[i] = some[i]; some[i] = some[i] * 2; } }", "right"),
    # the last value of a sum at an index that is data
    "last_of_a_histogram": ("void f(int h[N], const int g[N], const int A[M], int z[1]) {"
        " for (int j = 0; j < M; j++) { h[g[0]] += A[j]; z[0] = h[g[0]]; } }", ANY),
    # an epilogue begins with the value of an earlier one, which is computed once more after an overwrite
    "end_repeats_a_read": ("void f(int x[N], int w[N], int z[N]) {"
        " for (int i = 0; i < N; i++) if (1 < x[i]) x[i] = 1;"
        " for (int i = 0; i < N; i++) x[i] = x[i] + w[i];"
        " for (int i = 0; i < N; i++) w[i] += x[i];"
        " for (int i = 0; i < N; i++) z[i] = x[i]; }", "right"),
    # two loops of a start or an end are no single loop of the reduction
    "start_of_all_for_a_diagonal": ("void f(int y[N][N], const int A[N][M]) {"
        " for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) y[i][j] = 0;"
        " for (int k = 0; k < N; k++) for (int l = 0; l < M; l++) y[k][k] += A[k][l]; }", "right"),
    "end_of_all_after_a_diagonal": ("void f(int y[N][N], const int A[N][M], int z[N][N]) {"
        " for (int k = 0; k < N; k++) for (int l = 0; l < M; l++) y[k][k] += A[k][l];"
        " for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) z[i][j] = y[i][j] * 2; }", "right"),
    "start_of_all_for_diagonal_prefixes": ("void f(const int x[N], int S[N][M][M]) {"
        " for (int k = 0; k < M; k++) for (int l = 0; l < M; l++) S[0][k][l] = k + l;"
        " for (int i = 1; i < N; i++) for (int k = 0; k < M; k++)"
        " S[i][k][k] = S[i - 1][k][k] + x[i]; }", "right"),
    # a conversion that loses bits is no affine condition
    "condition_cut_off": ("void f(const int x[N], int S[N]) { for (int i = 0; i < N; i++)"
        " S[i] = (int)(i * 4294967296L) > 0 ? S[i - 1] + x[i] : x[i]; }", ANY),
    # a histogram has a stage to itself
    "histogram_beside_a_sum": ("void f(const int q[1], const int x[N], int h[5], int s[1], int y[1]) {"
        " s[0] = 7; for (int i = 0; i < N; i++) { h[q[0] & 3] += 1; s[0] += x[i]; } y[0] = s[0] * 2; }",
        "right"),
    "histogram_beside_a_record": ("void f(const int q[1], const int x[N], int h[5], int s[1], int m[1]) {"
        " for (int i = 0; i < N; i++) { h[q[0] & 3] += 1; if (x[i] > s[0]) { s[0] = x[i]; m[0] = i; } } }",
        "right"),
    # the element before is one step along one subscript
    "diagonal_is_no_prefix": ("void f(const int x[N], int S[N][N]) {"
        " for (int i = 1; i < N; i++) S[i][i] = S[i - 1][i] + x[i]; }", "right"),
    "gathered_column_is_no_prefix": ("void f(const int x[N], const int q[1], int S[N][M]) {"
        " for (int i = 1; i < N; i++) S[i][q[0] & 3] = S[i - 1][q[0] & 3] + x[i]; }", ANY),
    "prefix_begun_wider": ("void f(const int8_t x[N], int8_t S[N]) { for (int i = 0; i < N; i++)"
        " S[i] = (i > 0 ? S[i - 1] : 300) > x[i] ? (i > 0 ? S[i - 1] : 300) : x[i]; }", ANY),
    "prefix_begun_by_its_own": ("void f(const int x[N], int z[N]) {"
        " int s = z[0]; for (int i = 0; i < N; i++) { s += x[i]; z[i] = s; } }", "right"),
    # what a condition on the running value protects
    "condition_protects_a_quotient": ("void f(const uint8_t x[N], int m[1]) {"
        " m[0] = 0; for (int i = 0; i < N; i++) if (x[i] > m[0] && 10 / x[i] > 3) m[0] = x[i]; }", ANY),
    "record_protects_its_payload": ("void f(const uint8_t x[N], int m[1], int k[1]) { m[0] = 0;"
        " for (int i = 0; i < N; i++) if (x[i] > m[0]) { m[0] = x[i]; k[0] = 100 / x[i]; } }", ANY),
    # what is asked whether it is 0 is not cut down before
    "or_of_a_wider_number": ("void f(const int x[N], uint8_t y[1]) {"
        " for (int i = 0; i < N; i++) y[0] = y[0] || (x[i] & 256); }", "right"),
    "element_rounded_where_it_is_compared": ("void f(const float x[N], double m[1]) {"
        " m[0] = 0.99999999; for (int i = 0; i < N; i++) { float v = fminf(x[i], 1.0f);"
        " float t = m[0]; if (v > t) m[0] = v; } }", ANY),
    # a local that was read before the loop is no running value
    "old_value_is_no_record": ("void f(const int A[N], int m[1]) {"
        " int t = m[0]; for (int j = 0; j < N; j++) if (A[j] > t) m[0] = A[j]; }", "C115"),
    "old_value_is_no_sum": ("void f(const int A[N][M], int m[N]) { for (int i = 0; i < N; i++) {"
        " int t = m[i]; for (int j = 0; j < M; j++) m[i] = t + A[i][j]; } }", "C115"),
    "value_of_the_same_iteration": ("void f(const int A[N], int m[1]) {"
        " for (int j = 0; j < N; j++) { int t = m[0]; m[0] = t + A[j]; } }", "right"),
    # names in headers, and what changes there
    "counter_in_its_own_start": ("const int k = 1; void f(int x[N]) {"
        " int k = 3; for (k = k + 1; k < N; k++) x[k] = 1; }", "right"),
    "counter_as_its_own_step": ("const int i = 1; void f(int x[N]) {"
        " for (int i = 1; i < N; i += i) x[i] = 1; }", "C131"),
    "bound_that_changes": ("void f(int y[N][M]) {"
        " int n = 5; for (int i = 0; i < n; i++) for (n = 0; n < 3; n++) y[i][n] = 1; }", "C131"),
    "another_variable_of_that_name": ("void f(int y[N]) {"
        " int n = 5; for (int i = 0; i < n; i++) { int n = 3; n += i; y[i] = n; } }", "right"),
    "last_value_of_a_hidden_local": ("void f(const int x[N], int y[N], int z[1]) { int t;"
        " for (int i = 0; i < N; i++) { t = x[i]; int t = 5; y[i] = t; } z[0] = t; }", "right"),
    # constants
    "signs_of_zeros": ("void f(float y[N], const int c[N]) { y[0] = 1 / -0.0f; y[1] = 1.0f / -1e-50;"
        " for (int i = 2; i < N; i++) { float t; if (c[i] > 0) t = 0.0f; else t = -0.0f;"
        " y[i] = 1.0f / t; } }", "right"),
    "constants_of_16_bits": ("void f(float y[N]) { _Float16 h = 0.1; y[0] = h; y[1] = (float)(_Float16)2049;"
        " y[2] = (_Float16)1e-8; y[3] = (_Float16)65520; }", "right"),
    "braces_left_out": ("const int w[2][2][2] = { 1, 2, {3, 4} }; void f(int y[2]) {"
        " for (int i = 0; i < 2; i++) y[i] = w[i][0][0]; }", "C113"),
    "enumeration_beyond_int": ("enum { BIG = 0x80000000 }; void f(long y[N]) {"
        " for (int i = 0; i < N; i++) y[i] = BIG; }", "C124"),
    # what is skipped is the identity of the operator after all conversions
    "skipped_value_cut_down": ("void f(int h[5], const int g[1], const int x[N]) {"
        " for (int i = 0; i < N; i++) { int v = (int8_t)(x[i] > 1 ? x[i] : 2147483647);"
        " h[g[0] & 3] = v < h[g[0] & 3] ? v : h[g[0] & 3]; } }", "right"),
    "skipped_infinity": ("void f(float h[5], const int g[1], const float x[N]) { h[0] = NAN; h[1] = NAN;"
        " h[2] = NAN; for (int i = 0; i < N; i++)"
        " h[g[0] & 3] = fmaxf(h[g[0] & 3], x[i] > 1 ? x[i] : -INFINITY); }", ANY),
    # `return` leaves out what follows
    "return_in_a_branch": ("void f(int n, int x[N]) {"
        " if (n > 0) return; for (int i = 0; i < N; i++) x[i] = 1; }", "C113"),
    # names and constants
    "typedef_of_a_block": ("typedef int T; void f(const int x[N], int y[N]) {"
        " for (int i = 0; i < N; i++) { { typedef float T; y[i] = 0; } T t = x[i]; y[i] = t / 2 * 2; } }",
        "right"),
    "characters": ("void f(int y[N]) {"
        " y[0] = '\\''; y[1] = '\\\\'; y[2] = '\\377'; y[3] = '\\x41'; }", "right"),
    "long_constants": ("void f(float y[N]) { y[0] = 9007199791611905;"
        " y[1] = 0x1.00000100000000000001p0f; y[2] = -9007199791611905; }", "right"),
    "joined_by_macros": ("#define NEG -1\nvoid f(int x[N]) {"
        " for (int i = 0; i < N; i++) x[i] = x[i] -NEG; }", "right"),
    # a number is a condition
    "float_conditions": ("void f(const float x[N], const int A[N], int m[1]) {"
        " for (int i = 0; i < N; i++) if (x[i] && A[i] > 0) m[0] += A[i]; }", "right"),
    # a histogram's index lies outside where its condition fails
    "histogram_where_inside": ("void f(const int x[N], int h[N]) {"
        " for (int i = 0; i < N; i++) if (x[i] >= 0) h[x[i]] += 2; }", "right"),
    "minima_where_inside": ("void f(const int x[N], float h[N], const float w[N]) {"
        " for (int i = 0; i < N; i++) if (!(x[i] < 0)) { if (w[i] != 1) h[x[i]] = fminf(h[x[i]], w[i]); } }",
        "right"),
    # a running value's start reads what the running values overwrite, before the total begins with it again
    "total_begins_after_an_overwrite": ("void f(int x[N], int z[N], uint64_t B[N][M]) {"
        " for (int i = 0; i < N; i++) z[i] = x[i] * B[i][0];"
        " for (int i = 0; i < N; i++) for (int j = 0; j < M; j++)"
        " { z[i] = 1 < z[i] ? 1 : z[i]; B[i][j] = z[i]; } }", "right"),
    # what begins a running value is no element of the array that it is stored in
    "running_value_of_one_iteration": ("void f(float y[N]) { double z[N];"
        " for (int i = 0; i < N; i++) z[i] = 1;"
        " for (int i = 0; i < N; i++) for (int j = 0; j < 1; j++)"
        " { if (y[i]) z[i] += 1; y[i] = z[i]; } }", "right"),
    # a running value is stored at an index that is data
    "running_value_scattered": ("void f(float x[N], float s[1], const int q[1]) {"
        " for (int j = 0; j < 1; j++) { s[0] = s[0] + 1; x[q[j]] = s[0]; } }", ANY),
    # an epilogue writes what the reduction, its start or another epilogue reads elsewhere
    "end_writes_operand": ("void f(const float A[N][N], float x[N], float y[N]) {"
        " for (int i = 0; i < N; i++) { y[i] = 0; for (int j = 0; j < N; j++) y[i] += A[i][j] * x[j]; }"
        " for (int i = 0; i < N; i++) x[i] = y[i]; }", "right"),
    "end_writes_what_another_end_reads": (
        "void f(const float A[N][M], const float x[M], float y[N], float z[N], float D[N]) {"
        " for (int i = 0; i < N; i++) { y[i] = 0; for (int j = 0; j < M; j++) y[i] += A[i][j] * x[j]; }"
        " for (int i = 0; i < N; i++) D[i] = y[i] + z[N - 1 - i];"
        " for (int i = 0; i < N; i++) z[i] = y[i] * 2; }", "right"),
    "end_writes_what_the_start_reads": ("void f(const float A[N][M], float y[N], float z[N]) {"
        " for (int i = 0; i < N; i++) { y[i] = z[N - 1 - i]; for (int j = 0; j < M; j++) y[i] += A[i][j]; }"
        " for (int i = 0; i < N; i++) z[i] = y[i] * 2; }", "right"),
    "square_in_place": ("void f(float A[N][N], float B[N][N]) {"
        " for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) {"
        " B[i][j] = 0; for (int k = 0; k < N; k++) B[i][j] += A[i][k] * A[k][j]; }"
        " for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) A[i][j] = B[i][j]; }", "right"),
    "jacobi_sweep": ("void f(const float A[N][N], const float b[N], float x[N], float s[N]) {"
        " for (int i = 0; i < N; i++) {"
        " s[i] = 0; for (int j = 0; j < N; j++) if (j != i) s[i] += A[i][j] * x[j]; }"
        " for (int i = 0; i < N; i++) x[i] = b[i] - s[i]; }", "right"),
    "viterbi_step": ("void f(const int w[N][N], int score[N], int next[N]) {"
        " for (int j = 0; j < N; j++) { next[j] = -1000; for (int i = 0; i < N; i++)"
        " if (score[i] + w[i][j] > next[j]) next[j] = score[i] + w[i][j]; }"
        " for (int j = 0; j < N; j++) score[j] = next[j]; }", "right"),
    "doitgen": ("void f(float A[N][M][M], const float C[M][M], float sum[N][M][M]) {"
        " for (int r = 0; r < N; r++) for (int q = 0; q < M; q++) for (int p = 0; p < M; p++) {"
        " sum[r][q][p] = 0; for (int s = 0; s < M; s++) sum[r][q][p] += A[r][q][s] * C[s][p]; }"
        " for (int r = 0; r < N; r++) for (int q = 0; q < M; q++) for (int p = 0; p < M; p++)"
        " A[r][q][p] = sum[r][q][p]; }", "right"),
    # a start reads what a second output of the reduction overwrites
    "start_reads_second_output": ("void f(const float A[N][M], float y[N], float z[N]) {"
        " for (int i = 0; i < N; i++) y[i] = z[N - 1 - i];"
        " for (int i = 0; i < N; i++) for (int j = 0; j < M; j++)"
        " { y[i] += A[i][j]; z[i] = y[i]; } }", "right"),
    # conditions count
    "condition_reads_before": ("void f(float x[N]) {"
        " for (int i = 1; i < N; i++) if (x[i - 1] > 0) x[i] = x[i] - 2.5f; }", "C150"),
    "condition_gathers": ("void f(float x[N], const int p[N]) {"
        " for (int i = 0; i < N; i++) if (x[p[i]] > 0) x[i] = -1; }", "C150"),
    "condition_reads_mirror": ("void f(float x[N], const float y[N]) {"
        " for (int i = 0; i < N; i++) if (x[N - 1 - i] > 0) x[i] = y[i]; }", "C150"),
    # comparisons of loop headers are those of C's types
    "unsigned_bound": ("void f(int y[N]) {"
        " for (int i = -2; i < N - 2u; i++) y[i + 2] = 1; }", ANY),
    "unsigned_counter": ("void f(int y[N]) {"
        " for (unsigned i = 0; i < N - 2u; i++) y[i + 2] = 1; }", "right"),
    "endless_unsigned": ("void f(int y[64]) { for (unsigned i = 63; i >= 0; i--) y[i] = 1; }", "C132"),
    "endless_char": ("void f(int y[300]) { for (unsigned char i = 0; i < 300; i++) y[i] = 1; }", "C132"),
    # running values and repeated updates, found by random programs
    "running_value_over_operand": ("void f(int u[M], int C[M][N]) {"
        " for (int i = 0; i < M; i++) for (int j = 0; j < N; j++)"
        " { u[i] ^= C[i][j]; C[i][j] = u[i]; } }", ANY),
    "running_value_over_flat_operand": ("void f(float z[N], float *C) {"
        " for (int i = 0; i < N; i++) for (int j = 0; j < M; j++)"
        " { z[i] += C[i * M + j]; C[i * M + j] = z[i]; } }", ANY),
    "update_then_copy": ("void f(float u[M]) {"
        " for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { u[i] += 1; u[i] = u[i]; }"
        " for (int i = 0; i < M; i++) u[i] = u[i] > 0 ? u[i] : 0; }", ANY),
    "copy_then_update": ("void f(int x[N]) {"
        " for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) { x[i] = x[i]; x[i] -= 1; } }", ANY),
    "update_then_double": ("void f(int x[N], const int h[N]) {"
        " for (int i = 0; i < N; i++) for (int j = 0; j < M; j++)"
        " { x[i] = x[i] & h[i]; x[i] = x[i] + x[i]; } }", ANY),
    "minimum_then_double": ("void f(float y[N]) {"
        " for (int i = 0; i < N; i++) for (int j = 0; j < M; j++)"
        " { y[i] = 1 < y[i] ? 1 : y[i]; y[i] = y[i] + y[i]; } }",
        ANY),
    "minimum_of_a_local_array": ("void f(float w[N]) { float z[N];"
        " for (int i = 0; i < N; i++) z[i] = 3;"
        " for (int i = 0; i < N; i++) { for (int j = 0; j < M; j++)"
        " { z[i] = fminf(z[i], 1); z[i] = z[i]; } z[i] += 1; }"
        " for (int i = 0; i < N; i++) w[i] += z[i]; }", ANY),
    # what no iteration updates stays as it is
    "and_under_a_condition": ("void f(const int c[N], int y[N]) {"
        " for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) if (c[i] > 1) y[i] = y[i] && 1; }", ANY),
    "or_where_even": ("void f(int C[N][M]) {"
        " for (int i = 0; i < N; i++) for (int l = 0; l < M; l++) for (int j = 0; j < N; j++)"
        " if (l % 2 == 0) C[i][l] = C[i][l] || 1; }", ANY),
    "narrow_minimum_under_a_condition": ("void f(const int y[N], int8_t w[N]) {"
        " for (int i = 0; i < N; i++) for (int j = 0; j < M; j++)"
        " if (y[i] < 1u) w[i] = w[i] <= 1 ? w[i] : 1; }", ANY),
    # one term of a sum reads the element that it adds to, and no other one adds to it
    "the_only_term_reads_its_sum": ("void f(const int y[N], int A[N][N]) { for (int i = 0; i < N; i++)"
        " for (int j = 0; j < 2 - i; j++) { for (int k = 0; k < j; k++) A[i][j] += A[i][k] & A[k][j];"
        " A[i][j] = A[i][j] / (A[j][j] > 1 ? 3 : 1); } }", "right"),
    "one_term_reads_its_sum": ("void f(const int w[N], const int B[N][M], int z[N]) {"
        " for (int i = 0; i < N - 1; i++) for (int j = i + 1; j < M; j++)"
        " z[i] += z[N - 1 - i] == B[i][j] ? w[i] : B[i][M - 1 - j]; }", "right"),
    # a loop of one iteration
    "scatter_once": ("void f(int w[N], const int p[1]) { for (int i = 0; i < 1; i++) w[p[i]] = 1; }", ANY),
    "histogram_once": ("void f(float h[16], const uint8_t g[1]) {"
        " for (int i = 0; i < 1; i++) h[g[i] & 15] -= 1; }", ANY),
}  # fmt: skip
