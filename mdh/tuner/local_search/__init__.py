"""Schedules around a schedule: whatever it says may be changed, and the checker says what is legal.

A search of its own beside those over the holes: `moves` are the changes, a module a group of the schedule's
parts; `neighbours` is the search, as the tuner's loop knows searches.
"""
