from mdh.tuner.search import make_searcher
from tests.tune.search.doubles import small_space

make_searcher("random", small_space(), seed=0, storage="mongo://me:secret@host/db")
