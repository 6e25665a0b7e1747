"""Names and pieces of text that random programs are made of, words of C among them."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


TENSORS = _words("""
    A B C D T U X W in out weight O1 2LUT 3x while register for_2 sin cos W_size A_size size_t main _t x_
    NULL do T_U C_2 asm unix I fmax_ 0x 1e5x part1 NAN stdout printf uint8_t inline true __LINE__ defined""")
SIZES = _words("N M K L W C A 2n if int H else exp2 T W_size INFINITY E linux __FILE__")
INDICES = _words("i j k l m n kw kh for 2i i_2 A T float case _ e1 0f NULL exp M_PI log __DATE__")
SCALARS = _words("s a b sh 2s alpha return")
KINDS = _words("float float float double int int half float32 int64 byte int16 uint32 bfloat16 int8")
"""Types of inputs in Tensor Comprehensions."""
MATRICES = _words("""
    A B C D E V W T i j k part1 part2 x for float exp fmaxf tanh RELU INT _ a_1 main I NULL unix Transpose
    x_size INFINITY CodeGen_ NAN i_2 __LINE__""")
PARAMS = _words("M N K L n rows if int M_size sin Batch")
STEMS = (*_words("x layer 2-layer if a.b ü main A exp _ i"), "my net")
"""Names of files."""
SPECIAL = (
    *_words("""
    99999999999999999999999999999999 2147483648 18446744073709551615 1e999 08 0x 1e 0x1p 1.5e+ -1 0 1.0
    1e400f 0x1p-2000 0x1p99999999999 1e-99999999999 0b1 1..2 ' ... -> == +=! min=! max= def where in i A.0
    A.99 A. ? : A(A(A(i))) max(1,2) float( Matrix Params CodeGen(FLOAT,{A}); ^T RELU( :double :: /* */ //
    # % /0 %0 <<99 ~ !"""),
    "0x" + "f" * 40,
    "1" * 5000,
    "\\\n",
)
"""What damaged texts hold."""
ODD = (
    "\x00\x01\x07\x08\x0b\x0c\x1b\x7f\x85\xa0\r"
    + "\u00b2\u00e4\u0660\u200b\u2028\u2192\ufeff\uffff\U0001f600\ud800"
)
"""Characters that texts seldom hold."""
OF_A_KIND = (
    _words("+ - * / % < > <= >= == != && || & | ^ << >>"),
    _words("= += *= min= max= +=! *=! min=! max=!"),
    _words("0 1 2 3 4 33 0.5 2.0f 1e3 255 65536 2147483647 2147483648u 0x10 07 1L 3e9 5000000000"),
    _words("float double half int byte int8 int16 int64 uint32 uint64 bfloat16 INT HALF FLOAT DOUBLE"),
    _words("exp min max abs fmaxf sqrt pow fma tanh floor round erf log1p RELU SIGMOID TANH"),
)
"""Words that can stand in each other's place; the third are numbers."""
