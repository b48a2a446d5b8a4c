"""Headroom's settings with one command, `scrapy greet`."""

from crawler.settings import *  # noqa: F403 -- a project's settings begin so

COMMANDS_MODULE = "cli.greeting"
