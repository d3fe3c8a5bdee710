"""The command line: one command per question, one sentence per failure.

Exit status: 0 done; 1 declined at a prompt, `check` found something that is still wrong, `verify` something damaged,
`doctor` anything wrong, `cluster status` something that does not run, `elsa get` no record, `dead-letters` and
`diff-load` messages that can't be applied, `anna run` a check that fails, or `anna recompute` something else than
before; 2 the input, the store, the cluster or the file system is at fault, and stderr has one sentence that says what,
where and what to do; 70 a bug of ours; 130 interrupted; 141 whoever read the output left. A traceback is shown for a
bug only, and only if ``NEOMODEL_DEBUG`` is set.
"""

import sys
from collections.abc import Sequence

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that `arguments` (the process's own, if None) ask for; returns the exit status."""
    try:
        from neomodel.cli.ending import ended  # takes a while, in which somebody may think better of it

        return ended(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        print("neomodel: interrupted", file=sys.stderr)
        return INTERRUPTED
