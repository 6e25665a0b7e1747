"""The tuning loop. `run` searches until a goal is reached, `finals` choose among the best, `state` holds what
both work with, and `effort` says how thoroughly a candidate is measured."""
