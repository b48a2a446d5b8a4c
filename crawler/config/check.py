"""Refuses wrong values and misspelt names as a process starts, before anything acts on them."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from scrapy.settings import SETTINGS_PRIORITIES

from crawler import config
from crawler.base.errors import HeadroomError, UnknownSettingError
from crawler.base.redaction import Redaction
from crawler.config import credentials, scrapy_cfg
from crawler.config.names import meant_by, meant_by_file
from crawler.config.redis_url import redis_url
from crawler.config.setting import Flag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings


def check(settings: Mapping[str, Any]) -> None:
    """Reads every setting of the table, and looks for names that are none.

    A name in the settings that resembles one of ours is refused, unless that one is set too: whoever has set both
    MONGO_URL and MONGO_URLS knows which is which. In scrapy.cfg's section, which is ours alone, every unknown name is
    refused.

    Raises:
        ConfigError: A setting has a value that it can't have.
        UnknownSettingError: A name is misspelt.
        HeadroomError: A scrapy.cfg, or a file of credentials, can't be read.
    """
    for setting in config.ALL:
        setting.of(settings)
    for name in _names(settings):
        meant = meant_by(name)
        if meant and not config.BY_NAME[meant].is_set(settings):
            raise UnknownSettingError(name, meant)
    for name, (_value, file) in scrapy_cfg.read().items():
        if name not in config.BY_NAME or config.BY_NAME[name].owner:
            raise UnknownSettingError(name, meant_by(name) or "one that docs/settings.md lists", f" in {file}")


def misspelt_names() -> list[str]:
    """Returns a line about each variable, and each file of credentials, whose name resembles a setting's and is none.

    They are told, not refused: other programs may share an environment, or a folder of secrets, and have names of their
    own there.
    """
    files = credentials.names()
    return [
        f"{place} is no setting and does nothing here; did you mean {meant}?"
        for names, places in (
            (os.environ, {f"the environment's {name}": meant_by(name) for name in sorted(os.environ)}),
            (files, {f"the file {name} in {credentials.VARIABLE}": meant_by_file(name) for name in files}),
        )
        for place, meant in places.items()
        if meant and meant not in names and not config.BY_NAME[meant].owner
    ]


def complete(settings: BaseSettings) -> None:
    """Writes into the settings what the environment, credentials, scrapy.cfg and the table say where nothing else does.

    For those who read settings by themselves: Scrapy's media pipeline, an add-on, a user's component. A flag that is
    written as a word (`yes`, `off`) becomes a bool, since Scrapy's own reader knows fewer words. REDIS_URL becomes the
    address that the crawl uses, whoever has said it, and stays the same when settings are completed again.
    """
    for setting in config.ALL:
        is_set = setting.is_set(settings)
        if isinstance(setting, Flag):
            priority = settings.getpriority(setting.name) if is_set else None
            settings.set(setting.name, setting.of(settings), priority or "addon")
        elif setting is config.REDIS_URL:
            settings.set(setting.name, redis_url(settings), "addon")
        # Scrapy-redis takes a value that is there for one that was meant.
        elif not is_set and setting.owner != "scrapy-redis":
            given = setting.given(settings)
            settings.set(setting.name, given.value if given else setting.default, "addon")


def redaction_of(settings: Mapping[str, Any]) -> Redaction:
    """Returns a redaction of all secrets that this process was given, wherever they stand.

    `check` raises for a file that can't be read. Here nothing is known of that one, and the others count all the same.
    """
    in_files: dict[str, str] = {}
    with contextlib.suppress(HeadroomError):
        in_files = {name: value for name, (value, _file) in scrapy_cfg.read().items()}
    site_secrets: dict[str, tuple[str, ...]] = {}
    with contextlib.suppress(HeadroomError):
        site_secrets = config.SITE_SECRET_HOSTS.of(settings)
    for name in (*config.BY_NAME, *site_secrets):
        with contextlib.suppress(HeadroomError):
            if entry := credentials.read(name):
                in_files[name] = entry[0]
    return Redaction.of(settings, os.environ, in_files)


def _names(settings: Mapping[str, Any]) -> list[str]:
    """Returns the names in settings but for those that are Scrapy's defaults."""
    priority_of = getattr(settings, "getpriority", None)
    names = [name for name in settings if isinstance(name, str)]
    if priority_of is None:
        return names
    return [name for name in names if priority_of(name) > SETTINGS_PRIORITIES["default"]]
