"""The output of commands as values and as text: `explain`, `run`, `tune`, `compare` and `doctor`.

`loops` and `traffic` describe a plan, `resources` a kernel. `html*` and `*_page` are the pages.
`difference_text` says how two schedules differ, and `ability` measures the CPU's runtimes.
"""
