"""C to Program.

`preprocess` and `cparse` read the text. `body` walks it and notes every access with its place; `pieces` says
what each statement is by itself; `merge` joins starting values and epilogues to it where `dependences` keeps
the order of the text; `fuse` and `scans` find stages and prefix sums. `syntax_of` keeps the text for the
judge.
"""
