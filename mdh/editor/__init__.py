"""What editors show of schedules and programs. `mdh lsp` is the language server; docs/editors.md is its
guide.

`session` holds the open texts and what is known of each. One module a feature reads that: `messages`,
`hover`, `completion`, `links`, `outline`, `actions`, `formatting`. They know places in texts and no
protocol. `server` alone speaks the protocol, and alone imports pygls.

A schedule's program is found by `owner`. `walk` says what a place of a text is, also where the text is
half-written; `analysis` is what the checker says of it.
"""
