"""A process that runs one command: how it treats its memory.

In: nothing. Out: the settings of Python's cyclic garbage collector.
"""

import atexit
import gc

_ALLOCATIONS = 200_000  # between two looks for cycles; Python's own 700 cost an ingest of a conference a second
_OLDER = (50, 100)


def settle() -> None:
    """Look for cycles seldom, because most of what a command makes lives to its end; and not when it ends.

    Python looks once more through all that is there before it exits, which takes a second when a model was loaded.
    """
    gc.set_threshold(_ALLOCATIONS, *_OLDER)
    atexit.register(gc.freeze)
