"""How much of a long test is done: a part in .ci/run, all of it with `NAR_WHOLE=1`."""

import os

WHOLE = os.environ.get("NAR_WHOLE") == "1"


def part(count, one_in):
    """The number of cases of a test that has `count` in all."""
    return count if WHOLE else -(-count // one_in)
