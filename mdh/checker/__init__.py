"""The checker: proves that a schedule is legal for a program and a machine, and returns the Plan.

`run.check` is the entry point. It goes from the whole program to single stages:

1. Sections are matched to stages (`sections`), and what they say about the program comes first: `inlining`,
   `online`, `fusing`, and the loops around stages (`parallel_loops`, `wavefronts`, `strips`,
   `loop_launch`).
2. Each stage is checked in phases, and a phase runs only if the one before found nothing: holes, the shape
   of the steps, each step as written, the resolved plan, its tile tree. `rules` has the rules of every
   phase, one file a family; `subject` is what they see. In between, `resolve` gives every `^`, label,
   layout and attribute a value (`entries`, `options`), and mdh.decompose makes the tile tree. What tensor
   cores and copy engines ask for is in `atom*`, `group_factors`, `register_factors` and `boxes`. `library`
   plans a stage that is a call.
3. Stages in the kernel of another one are planned inside of its plan (`inner*`), and launches are joined
   (`beside`).
4. `concrete` writes the schedule that is lowered on this machine, without entries that have no effect here.

An error has a code, a place in the schedule, what would be legal, and often a counter-example. All errors
of a schedule are reported together.

`*_default` and `open_*` choose default schedules where that takes a checked plan: by the cost model they
compare joined stages with stages of their own, and divide the ranges of open sizes. `performance` has
warnings about legal schedules. The function for Python programs is mdh.api.compile.check.
"""
