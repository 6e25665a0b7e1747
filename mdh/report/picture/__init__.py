"""The page of a schedule: draws which unit works on which part of every array."""
