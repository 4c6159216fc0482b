"""The flags that libraries read when they are imported: they keep every one of them off the network.

In: nothing. Out: the environment, set when this room is imported, and so before any library in it is.
Not known here: settings that a person may choose.
"""

import os

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
