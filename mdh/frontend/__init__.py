"""Input languages to Program.

Each folder reads one language: `c`. It returns what a function does as a `program.Text`: its arrays, and its
statements with the loops around them (`statements`). The modules here know no language and no parser.

`pieces` classifies each statement by itself. `merge` joins starting values and epilogues to it if
`dependences` shows that the order of the text is kept. `fuse` and `scans` find updates and prefix sums.
`shapes` derives the extents of pointers. `strict` checks --strict-fp. `program` checks the operators that the
user states, and makes the stages. `typing_rules`, `conversions`, `guards`, `counters`, `tables` and `updates`
say what expressions mean.

`repair` makes loops of the program where no stages would be right, with `renaming`, `parts`, `turning` and
`blocking`. `packing` copies what stages in their turns read of their outputs.
"""
