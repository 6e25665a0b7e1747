"""Search: chooses the points of a space that are measured next. `make_searcher` is the entry point. Only this
folder imports optuna, and only if one of its samplers or a storage is asked for."""

from mdh.tuner.search.make import DEFAULT, SAMPLERS, Sampler, make_searcher, study_name

__all__ = ["DEFAULT", "SAMPLERS", "Sampler", "make_searcher", "study_name"]
