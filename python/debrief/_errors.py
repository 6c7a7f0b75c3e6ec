"""What goes wrong, in debrief's own words."""
from __future__ import annotations


class Error(Exception):
    """A sentence that says what went wrong and, where there is something to do, what.

    `exit_code` is that of the program where the program failed: 1 no report, 2 wrong usage.
    """

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code
