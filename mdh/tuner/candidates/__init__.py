"""What is measured next: `proposals` takes points of a searcher, `shortlist` keeps those that the cost model
expects to be fast, `foresight` previews that for a space, `open_tiles` makes a template of a schedule.
"""
