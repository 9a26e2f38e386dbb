"""What Pulse raises."""


class PulseError(Exception):
    """Every error of Pulse is one of these, so that one `except` can tell ours from yours."""
