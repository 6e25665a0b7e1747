from mdh.tuner.measure.local import unjudged

raise unjudged("status -9: ")
