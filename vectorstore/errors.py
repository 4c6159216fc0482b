"""What can go wrong with an index, each as one line a person can act on.

In: facts about a failure. Out: exceptions whose text says what was got, what was expected, what to do.
Not known here: who catches them; vendor exceptions are mapped to these where the vendor is called.
"""

from pathlib import Path


class VectorstoreError(Exception):
    """Root of everything this room raises on purpose."""


class NoIndex(VectorstoreError):
    def __init__(self, root: Path) -> None:
        super().__init__(f"no index in {root}. Run `paperchat ingest SOURCE` to build one.")


class IndexDamaged(VectorstoreError):
    def __init__(self, folder: Path, what: str) -> None:
        super().__init__(f"index {folder} is damaged: {what}. Run `paperchat ingest --rebuild`.")


class VectorsLost(VectorstoreError):
    """Vectors that were computed are not in the cache any more, or can't be read: they must be computed again."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} has lost vectors. Run `paperchat ingest --rebuild`, which computes them again.")


class IndexLocked(VectorstoreError):
    def __init__(self, root: Path, holder: str) -> None:
        super().__init__(f"index {root} is being written by {holder}. Wait until it is done, then try again.")


class OtherModel(VectorstoreError):
    """The index was built with another embedding model than the settings ask for."""

    def __init__(self, built: str, wanted: str) -> None:
        super().__init__(
            f"index was built with model {built}; settings ask for {wanted}. "
            "Run `paperchat ingest --rebuild`, or set PAPERCHAT_EMBEDDER and PAPERCHAT_PRECISION back."
        )


class OlderFormat(VectorstoreError):
    """The index was written by an earlier version, and can be brought up to date from its records."""

    def __init__(self, got: int, expected: int) -> None:
        super().__init__(
            f"index has format {got}, from an earlier version; this one reads format {expected}. "
            "Run `paperchat ingest --rebuild`."
        )


class NewerFormat(VectorstoreError):
    """The index was written by a later version, which alone can read it."""

    def __init__(self, got: int, expected: int) -> None:
        super().__init__(
            f"index has format {got}, from a later version; this one reads format {expected}. "
            "Use that version, or set PAPERCHAT_INDEX_DIR to another folder."
        )


class ModelUnusable(VectorstoreError):
    def __init__(self, name: str, why: str, remedy: str) -> None:
        super().__init__(f"embedding model {name}: {why}. {remedy}")


class IndexUnwritable(VectorstoreError):
    def __init__(self, root: Path, why: str) -> None:
        super().__init__(
            f"cannot write the index {root}: {why}. Nothing was changed; free the space or rights, or set "
            "PAPERCHAT_INDEX_DIR to another folder."
        )
