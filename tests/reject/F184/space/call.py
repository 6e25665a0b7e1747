from mdh.tuner.search import make_searcher
from tests.tune.search.doubles import chain, nested_space, small_space

make_searcher("random", small_space(), seed=0, storage="study.log", study="mine")
make_searcher("random", nested_space(chain("i", 64, 2)), seed=0, storage="study.log", study="mine")
