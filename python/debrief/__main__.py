"""The command `debrief` of the wheel, and `python -m debrief`: becomes the program of the package."""
from __future__ import annotations

import os
import sys
from typing import NoReturn

from ._errors import Error
from ._program import binary


def main() -> NoReturn:
    try:
        path = str(binary())
    except Error as error:
        sys.exit(f"debrief: {error}")
    try:
        os.execv(path, [path, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"debrief: cannot start {path}: {error.strerror}.")


if __name__ == "__main__":
    main()
