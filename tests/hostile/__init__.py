"""Hostile input: functions that damage valid files of a kind, and drivers that judge what mdh does with them.

A mutator is (bytes, Random) -> bytes. A driver takes the bytes and returns a `verdict.Verdict`.
"""
