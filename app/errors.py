"""What can go wrong while a question is answered, each as one line a person can act on.

In: facts about a failure. Out: exceptions whose text says what was got, what was expected, what to do.
Not known here: how they are shown (exit code 2, problem+json); the errors of the rooms below.
"""

from pathlib import Path


class AppError(Exception):
    """Root of everything this room raises on purpose."""


class EmptyQuestion(AppError):
    def __init__(self) -> None:
        super().__init__('the question is empty. Ask something, for example: paperchat ask "What is QuantumBoost?"')


class QuestionTooLong(AppError):
    def __init__(self, got: int, limit: int) -> None:
        super().__init__(f"the question has {got:,} characters; at most {limit:,} are taken. Shorten it.")


class UnknownPaper(AppError):
    def __init__(self, name: str) -> None:
        super().__init__(f"no paper {name!r}. `paperchat papers` lists the ids.")


class BadHistory(AppError):
    def __init__(self, where: str, why: str) -> None:
        super().__init__(
            f'{where}: {why}. Expected a JSON array of {{"role": "user" or "assistant", "content": "..."}}.'
        )


class PortInUse(AppError):
    def __init__(self, host: str, port: int) -> None:
        super().__init__(f"port {port} of {host} is in use. Stop what listens there, or use --port N.")


class AddressUnusable(AppError):
    def __init__(self, host: str, port: int, why: str) -> None:
        super().__init__(f"cannot listen on {host} port {port}: {why}. Use --host 127.0.0.1 and a port above 1023.")


class BadSetting(AppError):
    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"setting {name}: {why}.")


class NotMended(AppError):
    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what}; it could not be built again: {why}")


class FeedbackUnusable(AppError):
    def __init__(self, path: Path, why: str) -> None:
        super().__init__(
            f"feedback file {path}: {why}. Set PAPERCHAT_FEEDBACK_FILE to a file that is yours alone, or to nothing."
        )


class NotNoted(AppError):
    """Said to whoever reads an answer: no path."""

    def __init__(self, why: str) -> None:
        super().__init__(f"could not be noted: {why}.")
