"""C to a `frontend.program.Text`.

`read` is the entry point. `preprocess` and `cparse` read the text. `body` walks it and notes every access
with its place in `scope`. `syntax_of` keeps the text as it is written, for the reference.
"""
