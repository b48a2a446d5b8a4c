"""What `scrapyd-deploy` builds its egg with; all that setuptools must know stands in pyproject.toml."""

from setuptools import setup

setup()
