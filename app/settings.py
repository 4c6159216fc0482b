"""Every setting, and the flags that libraries read when they are imported.

In: the environment (PAPERCHAT_*). Out: `Settings`. Importing this module first keeps all libraries off the network.
Not known here: what a setting does; below `app/` everything is an argument.
"""

import os
from pathlib import Path

from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.errors import BadSetting

# Read by their libraries at import, so they are set before any of them can be imported.
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "GRADIO_ANALYTICS_ENABLED": "False",
    "ANONYMIZED_TELEMETRY": "False",
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "TOKENIZERS_PARALLELISM": "false",
}
os.environ.update(OFFLINE)


class Settings(BaseSettings):
    """What a person may choose. Each is the environment variable PAPERCHAT_ and its name in capitals."""

    model_config = SettingsConfigDict(env_prefix="PAPERCHAT_", frozen=True, extra="ignore")

    index_dir: Path = Path("index")
    embedder: str = "minilm"
    allowed_hosts: str = ""  # further Host names that the server answers to, separated by commas


def read_settings() -> Settings:
    """The settings of this process. Raises BadSetting."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        raise BadSetting(f"PAPERCHAT_{str(first['loc'][0]).upper()}", first["msg"]) from None
