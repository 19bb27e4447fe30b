"""`python -m unmask`: the command line, without the folder that Python puts on its path for -m."""

import os
import sys
from contextlib import suppress

if __name__ == "__main__":
    with suppress(OSError):  # a working directory that is gone
        if not sys.flags.safe_path and sys.path[0] in ("", os.getcwd()):
            del sys.path[0]  # before anything else is imported

    from unmask.cli.main import run

    run(path_is_clean=True)
