"""`python -m neomodel` is the command `neomodel`."""

import sys

from neomodel.cli import main

sys.exit(main())
