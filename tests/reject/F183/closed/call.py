from pathlib import Path

from mdh.tuner.search import make_searcher
from tests.tune.search.doubles import small_space

searcher = make_searcher("random", small_space(), seed=0, storage="study.log")
Path("study.log").unlink()
Path("study.log").mkdir()
searcher.ask()
