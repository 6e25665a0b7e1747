"""The tuning loop: `run` searches until a goal is reached, `finals` decide between the best, `state` is what
both work with, `effort` how thoroughly a candidate is measured.
"""
