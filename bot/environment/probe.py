"""Runs in an environment's own Python and prints what is in it, as JSON; it is sent as text, never imported."""

import importlib.metadata
import json
import platform
import sys

print(  # noqa: T201
    json.dumps(
        {
            "version": platform.python_version(),
            "markers": {
                "implementation_name": sys.implementation.name,
                "platform_python_implementation": platform.python_implementation(),
                "python_full_version": platform.python_version(),
                "python_version": ".".join(platform.python_version_tuple()[:2]),
            },
            "installed": {
                found.metadata["Name"]: found.version
                for found in importlib.metadata.distributions()
                if found.metadata["Name"]
            },
        }
    )
)
