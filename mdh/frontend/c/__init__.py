"""C to a `frontend.program.Text`.

`read` is the door. `preprocess` and `cparse` read the text; `body` walks it and notes every access with its
place in `scope`; `syntax_of` keeps the text as it is written for the judge.
"""
