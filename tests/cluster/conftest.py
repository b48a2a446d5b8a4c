from commands.conftest import claim, fail, operator  # noqa: F401 -- fixtures
