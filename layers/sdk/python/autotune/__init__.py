"""Autotune's public package: protocol, clients, grader SDK and command line.

The names of ``autotune.client`` are names of this package too. The first use of one imports it:
``import autotune.protocol``, as the platform's functions do, loads neither httpx nor a client.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autotune.client import *  # noqa: F403 - its names are listed there, once
else:
    from importlib import import_module

    def __getattr__(name: str) -> Any:
        # Asked for `__all__` by `import *`, and for the name of a module before that is imported.
        client = None if _is_none_of_the_clients(name) else import_module("autotune.client")
        if name != "__all__" and name not in getattr(client, "__all__", ()):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(client, name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *import_module("autotune.client").__all__})

    def _is_none_of_the_clients(name: str) -> bool:
        from importlib.util import find_spec  # noqa: PLC0415 - only this needs it

        is_private = name.startswith("_") and name != "__all__"
        return is_private or find_spec(f"{__name__}.{name}") is not None
