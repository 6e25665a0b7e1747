"""Tables, figures and listings of papers that mdh runs again.

`table` lists them; a module for each line of papers says what is computed, what the paper measured and which
libraries stand beside it. `run` measures an experiment case by case, by the same comparison as `mdh compare`.
`schedules/` holds schedules that no program in C has, and open ones. `stored` reads results back.
"""
