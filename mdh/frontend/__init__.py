"""Input languages to Program.

A folder reads one language: `c`, `tc` (Tensor Comprehensions), `diesel`, `einsum`. `read` chooses it by the
ending of the file, and defines what it offers (`FrontEnd`). The modules here know no language and no
parser; parsers that are written by hand share `token_stream`.

`c` returns a `program.Text`: arrays, and statements with the loops around them (`statements`). The other
languages write a function of mdh.ir.syntax (`nest`), and `assemble` makes the statements of it.

`program` turns statements into stages. `pieces` classifies each statement by itself. `merge` joins starting
values and epilogues to it if `dependences` shows that the order of the text is kept. `fuse` and `scans`
find updates and prefix sums. `shapes` derives the extents of pointers. `strict` checks --strict-fp.
`typing_rules`, `conversions`, `guards`, `counters`, `tables` and `updates` say what expressions mean.

Where no stages would be right, `repair` makes loops of the program: it renames arrays (`renaming`), divides
nests (`parts`), chooses the loop whose iterations are turns (`turning`), and puts turns in blocks
(`blocking`). `packing` copies what stages in their turns read of their outputs.

Arrays that are known when the text is read: `constant_arrays`, `constant_parameters`, `constant_sizes`.
Sizes that stay open: `open_defines`, `open_program`.
"""
