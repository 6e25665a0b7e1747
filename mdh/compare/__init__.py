"""Schedules against one another on several devices: closed, judged, timed in turns, what comes of it."""
