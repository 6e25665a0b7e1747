"""The listings of Vasilache et al., "Tensor Comprehensions", 2018, as data. Sizes are small and differ."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Listing:
    """slip: the code of the message and the text under its caret. below: the bound of integers."""

    name: str
    text: str
    sizes: dict[str, int] = field(default_factory=dict)
    function: str | None = None
    slip: tuple[str, str] = ("", "")
    below: int = 5


ACCEPTED = (
    Listing(
        "mv",
        "def mv(float(M,K) A, float(K) x) -> (C) {\nC(i) = 0\nC(i) += A(i,k) * x(k)\n}",
        {"M": 4, "K": 5},
    ),
    Listing(
        "mv_short", "def mv(float(M,K) A, float(K) x) -> (C) {\nC(i) +=! A(i,k) * x(k)\n}", {"M": 4, "K": 5}
    ),
    Listing(
        "sgemm",
        """def sgemm(float a, float b,
          float(N,M) A, float(M,K) B) -> (C) {
  C(i,j) = b * C(i,j)            # initialization
  C(i,j) += a * A(i,k) * B(k,j)  # accumulation
}""",
        {"N": 3, "M": 4, "K": 5},
    ),
    Listing(
        "fcrelu",
        """def fcrelu(float(B,I) in, float(O,I) weight,
           float(I) bias) -> (out) {
  out(i,j) = bias(j)
  out(b,o) += in(b,i) * weight(o,i)
  out(i,j) = fmaxf(out(i,j), 0)
}""",
        {"B": 3, "I": 4, "O": 4},
    ),
    Listing(
        "conv2d",
        """def conv2d(float(B,IP,H,W) in,
           float(OP,IP,KH,KW) weight) -> (out) {
  out(b,op,h,w) +=! in(b,ip, h + kh, w + kw)
                    * weight(op,ip,kh,kw)
}""",
        {"B": 2, "IP": 3, "H": 6, "W": 7, "OP": 4, "KH": 3, "KW": 2},
    ),
    Listing(
        "maxpool2x2",
        """def maxpool2x2(float(B,C,H,W) in) -> (out) {
  out(b,c,i,j) max=! in(b,c, 2 * i + kw, 2 * j + kh)
                     where kw in 0:2, kh in 0:2
}""",
        {"B": 2, "C": 3, "H": 8, "W": 7},
    ),
    Listing(
        "gather",
        "def gather(float(N) X, int(A,B) I) -> (Z) {\nZ(i,j) = X(I(i,j))\n}",
        {"N": 5, "A": 3, "B": 4},
    ),
    Listing(
        "sconv2d",
        """def sconv2d(int sh, int sw, float(N,C,H,W) I,
            float(F,C,KH,KW) W, float(F) B) -> (O) {
  O(n,f,h,w) = B(f)
  O(n,f,h,w) += I(n,c, sh * h + kh, sw * w + kw)
                * W(f,c,kh,kw)
}""",
        {"sh": 2, "sw": 3, "N": 2, "C": 3, "H": 9, "W": 11, "F": 4, "KH": 3, "KW": 2},
    ),
    Listing(
        "outerProductMM",
        """def outerProductMM(float(P,Q,R) A, float(S,R,T) B) -> (O) {
  O(p,s,q,t) +=! A(p,q,r) * B(s,r,t)
}""",
        {"P": 2, "Q": 3, "R": 4, "S": 5, "T": 6},
    ),
    Listing(
        "tmm",
        "def tmm(float(M,K) A, float(N,K) B) -> (C) {\nC(m,n) +=! A(m,kk) * B(n,kk)\n}",
        {"M": 3, "N": 4, "K": 5},
    ),
    Listing(
        "tbmm",
        "def tbmm(float(B,N,M) X, float(B,K,M) Y) -> (Z) {\nZ(b,n,k) +=! X(b,n,m) * Y(b,k,m)\n}",
        {"B": 2, "N": 3, "M": 4, "K": 5},
    ),
    Listing(
        "2LUT",
        """def 2LUT(float(E1,D) LUT1, int(B,L1) I1,
         float(E2,D) LUT2, int(B,L2) I2) -> (O1, O2) {
  O1(i,j) +=! LUT1(I1(i,k),j)
  O2(i,j) +=! LUT2(I2(i,k),j)
}""",
        {"E1": 6, "E2": 7, "D": 3, "B": 4, "L1": 2, "L2": 5},
    ),
    Listing(
        "mm",
        "def mm(float(M,K) A,\n       float(K,N) B) -> (C) {\nC(m,n) +=! A(m,kk) * B(kk,n)\n}",
        {"M": 3, "N": 4, "K": 5},
    ),
    Listing(
        "MLP1",
        """def MLP1(float(B,M) I, float(O,N) W1, float(O) B1) -> (O1) {
  O1(b,n) = B1(n)
  O1(b,n) += I(b,m) * W1(n,m)
  O1(b,n) = fmaxf(O1(b,n), 0)
}""",
        {"B": 3, "M": 4, "O": 5, "N": 6},
    ),
)

_MLP3 = """def MLP3(float(B,M) I, float(O,N) W2, float(O) B2,
         float(P,O) W3, float(P) B3, float(Q,P) W4,
         float(Q) B4) -> (%s) {
%s  O2(b,o) = B2(o)
  O2(b,o) += O1(b,n) * W2(o,n)
  O2(b,o) = fmaxf(O2(b,o), 0)
  O3(b,p) = B3(p)
  O3(b,p) += O2(b,o) * W3(p,o)
  O3(b,p) = fmaxf(O3(b,p), 0)
  O4(b,q) = B4(q)
  O4(b,q) += O3(b,p) * W4(q,p)
  O4(b,q) = fmaxf(O4(b,q), 0)
}
"""
_MLP_SIZES = {"B": 3, "M": 4, "N": 4, "O": 5, "P": 2, "Q": 3}
_GCONV = """def gconv(float(N,G,C,H,W) I, float(G,F,C,KH,KW) W1,
          float(%s) B) -> (O) {
  O(n,g,o,h,w) +=! I(n,g,i, h + kh, w + kw)
                   * W1(g,o,i,kh,kw)
  O(n,g,o,h,w) = O(n,g,o,h,w) + B(%s)
}"""
_GCONV_SIZES = {"N": 2, "G": 3, "C": 2, "H": 5, "W": 6, "F": 4, "KH": 2, "KW": 3, "M": 4}
_PARTS = """def 2LUT(float(E1,D) LUT1, int(B,L1) I1,
         float(E2,D) LUT2, int(B,L2) I2) -> (O1,O2) {
  O1(i,j) +=! LUT1(I1(i,k),j)
  O2(i,j) +=! LUT2(I2(i,k),j)
}
def MLP1(float(B,M) I, float(O,N) W1, float(O) B1) -> (O1) {
  O1(b,n) = B1(n)
  O1(b,n) += I(b,m) * W1(n,m)
  O1(b,n) = fmaxf(O1(b,n), 0)
}
"""
_HEAD = """def prodModel(float(E1,D) LUT1, int(B,L1) I1,
              float(E2,D) LUT2, int(B,L2) I2,
              float(B,WX) I3, float(WY,WX) W,
              float(N,M) W1, float(N) B1,
              float(O,N) W2, float(O) B2,
              float(P,O) W3, float(P) B3,
              float(Q,P) W4, float(Q) B4)
    -> (C1,C2,C3,I,O1,O2,O3,O4) {
  (C1,C2) = 2LUT(LUT1,I1,LUT2,I2)
"""
_MODEL_SIZES = {
    "E1": 5, "E2": 6, "D": 3, "B": 2, "L1": 3, "L2": 2, "WX": 4, "WY": 5, "M": 11, "N": 4, "O": 3, "P": 2,
    "Q": 3,
}  # fmt: skip

REJECTED = (
    Listing(
        "conv1d", "def conv1d(float(M) I, float(N) K) -> (O) {\nO(i) = K(x) * I(i + x)\n}",
        {"M": 9, "N": 3}, None, ("T107", "x"),
    ),
    Listing("gconv", _GCONV % ("M", "m"), _GCONV_SIZES, None, ("T107", "m")),
    Listing(
        "dconv",
        """def dconv(float(N,F,H,W) I, float(F,GCI,KH,KW) W1, float(M) B) -> (O) {
  O(n,o,h,w) +=! I(n,gci, h + kh, w + kw) *
                 W1(gci % grp, o / grp, gci / grp, kh, kw)
  O(n,o,h,w) = O(n,o,h,w) + B(m)
}""",
        {"N": 2, "F": 4, "H": 5, "W": 6, "GCI": 2, "KH": 2, "KW": 2, "M": 4}, None,
        ("T105", "W1"),
    ),
    Listing("MLP3", _MLP3 % ("O1,O2,O3,O4", ""), _MLP_SIZES, None, ("T104", "O1")),
    Listing(
        "prodModel",
        _PARTS + _MLP3 % ("O1,O2,O3,O4", "") + _HEAD + """  C3(b,wy) += I3(b,wxx) * W(wy,wxx)
  I = concat(C1, C2, C3) # not implemented yet
  O1 = MLP1(I, W1, B1)
  (O2,O3,O4) = MLP3(O1,W2,B2,W3,B3,W4,B4)
}""",
        _MODEL_SIZES, "prodModel", ("T115", "concat"),
    ),
)  # fmt: skip

_MLP3_GIVEN = (_MLP3 % ("O2,O3,O4", "")).replace(
    "float(B,M) I, float(O,N) W2", "float(B,N) O1, float(O,N) W2"
)
CORRECTED = (
    Listing(
        "conv1d", "def conv1d(float(M) I, float(N) K) -> (O) {\nO(i) +=! K(x) * I(i + x)\n}", {"M": 9, "N": 3}
    ),
    Listing("gconv", _GCONV % ("F", "o"), {n: v for n, v in _GCONV_SIZES.items() if n != "M"}),
    Listing(
        "dconv",
        """def dconv(float(N,G,C,H,W) I, float(G,F,C,KH,KW) W1, float(G,F) B) -> (O) {
  O(n,g,o,h,w) +=! I(n,g,i, h + kh, w + kw) * W1(g,o,i,kh,kw)
  O(n,g,o,h,w) = O(n,g,o,h,w) + B(g,o)
}""",
        {n: v for n, v in _GCONV_SIZES.items() if n != "M"},
    ),
    Listing("MLP3", _MLP3_GIVEN, {n: v for n, v in _MLP_SIZES.items() if n != "M"}),
    Listing(
        "prodModel",
        _PARTS + _MLP3_GIVEN + _HEAD + """  C3(b,wy) +=! I3(b,wxx) * W(wy,wxx)
  I(b,m) = m < LUT1.1 ? C1(b,m) : m < 2 * LUT1.1 ? C2(b, m - D) : C3(b, m - 2 * D)
           where m in 0:2 * D + WY
  O1 = MLP1(I, W1, B1)
  (O2,O3,O4) = MLP3(O1,W2,B2,W3,B3,W4,B4)
}""",
        _MODEL_SIZES, "prodModel",
    ),
)  # fmt: skip
