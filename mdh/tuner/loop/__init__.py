"""The tuning loop. `run` searches until a goal is reached, `finals` choose among the best, and `state` holds
what both work with."""
