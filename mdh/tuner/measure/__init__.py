"""Builds, judges and times candidates in processes of their own, which may hang, crash or be poisoned."""
