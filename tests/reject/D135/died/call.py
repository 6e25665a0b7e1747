from mdh.tune.measure.local import unjudged

raise unjudged("status -9: ")
