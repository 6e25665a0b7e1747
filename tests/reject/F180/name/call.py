from mdh.tuner.search import make_searcher
from tests.tune.search.doubles import small_space

make_searcher("evolutoin", small_space(), seed=0)
