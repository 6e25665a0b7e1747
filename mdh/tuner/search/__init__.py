"""Search: which point of a space is measured next. `make_searcher` is the way in; optuna enters here alone,
and only when one of its samplers or a storage is asked for."""

from mdh.tuner.search.make import DEFAULT, SAMPLERS, Sampler, make_searcher, study_name

__all__ = ["DEFAULT", "SAMPLERS", "Sampler", "make_searcher", "study_name"]
