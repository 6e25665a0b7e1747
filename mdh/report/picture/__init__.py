"""The page of a schedule: which part of every array which unit works on, drawn from what lowering uses."""
