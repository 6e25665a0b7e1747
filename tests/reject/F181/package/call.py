import sys
from unittest.mock import patch

from mdh.tuner.search import make_searcher
from tests.tune.search.doubles import small_space

with patch.dict(sys.modules, {"scipy": None, "torch": None}):
    make_searcher("gp", small_space(), seed=0)
