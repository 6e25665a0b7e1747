"""Points in time as text."""

from datetime import UTC, datetime


def moment_text(seconds: float) -> str:
    """Seconds since the epoch as ISO 8601 in UTC; empty for 0, and for times outside of the calendar."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if seconds else ""
    except (ValueError, OverflowError, OSError):
        return ""
