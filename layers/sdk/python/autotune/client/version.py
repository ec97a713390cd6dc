"""The installed version of the package."""

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str:
    """Return the version of ``autotune-sdk``, or ``unknown`` where it is not installed."""
    try:
        return version("autotune-sdk")
    except PackageNotFoundError:
        return "unknown"
