"""Every setting, read in this one place.

In: the environment (PAPERCHAT_*). Out: `Settings`.
Not known here: what a setting does; below `app/` everything is an argument.
"""

from pathlib import Path
from typing import Literal

from pydantic import ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.errors import BadSetting
from app.offline import OFFLINE as OFFLINE


class Settings(BaseSettings):
    """What a person may choose. Each is the environment variable PAPERCHAT_ and its name in capitals."""

    model_config = SettingsConfigDict(env_prefix="PAPERCHAT_", frozen=True, extra="ignore")

    index_dir: Path = Path("index")
    embedder: str = "minilm"
    precision: Literal["auto", "fp32", "bf16", "int8"] = "auto"  # of the papers' vectors
    allowed_hosts: str = ""  # further Host names that the server answers to, separated by commas
    feedback_file: Path | None = None  # where what people say of answers is kept; None: they are not asked

    @field_validator("feedback_file", mode="before")
    @classmethod
    def _empty_is_none(cls, given: object) -> object:
        return None if given == "" else given


def read_settings() -> Settings:
    """The settings of this process. Raises BadSetting."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        raise BadSetting(f"PAPERCHAT_{str(first['loc'][0]).upper()}", first["msg"]) from None
