"""Moments for people and other tools."""

from datetime import UTC, datetime


def moment_text(seconds: float) -> str:
    """Seconds since the epoch as ISO 8601 in UTC; empty for none, and for what no calendar has."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if seconds else ""
    except (ValueError, OverflowError, OSError):
        return ""
