"""``python -m glassbox``: the command line, where no script of this name is installed."""

import sys

from glassbox.cli import main

if __name__ == "__main__":
    sys.exit(main())
