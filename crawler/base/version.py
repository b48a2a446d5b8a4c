"""The version: of the package, of what workers report, and in the User-Agent."""

__version__ = "0.2.0.dev0"
