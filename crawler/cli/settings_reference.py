"""docs/settings.md, made from the table of settings: `scrapy settings --reference > docs/settings.md`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from crawler import config

if TYPE_CHECKING:
    from crawler.config.setting import Setting

INTRODUCTION = """\
# Settings

Made from `crawler/config/__init__.py` by `scrapy settings --reference`; change it there.

A setting's value is the first that there is of these:

1. the command line: `scrapy crawl consumer -s NAME=VALUE`;
2. what a spider's `custom_settings`, then the project's settings module, say;
3. the environment: a variable of the same name that isn't empty. Passwords belong here or into the next place, since
   others see a command line and read files;
4. a file of the same name in the folder that the variable CREDENTIALS_DIRECTORY names: credentials of systemd, secrets
   of Docker and Kubernetes. It holds the value and nothing else;
5. the section `[headroom]` of `scrapy.cfg`: that of the project, then the user's (`~/.scrapy.cfg`,
   `~/.config/scrapy.cfg`), then `/etc/scrapy.cfg`. A relative path in it is below its folder;
6. the default below.

```ini
[headroom]
SITES_DIR = sites
ITEMS_DIR = /srv/items
REDIS_URL = redis://redis.example.org:6379/0
```

Settings marked *Scrapy's* or *scrapy-redis's* are read from the command line and the project alone: other programs have
such names in the environment. Of Scrapy's, what the project says is for spiders of its own; what it wants of producer
and consumer goes into `FRONTIER_SETTINGS`, apart from who runs the process, and where (`LOG_LEVEL`, `USER_AGENT`,
`ROBOTSTXT_USER_AGENT`).

A wrong value ends a command or a spider at its start, with one line that names the setting, where its value stands, and
what was expected. So does a name that resembles one of these and is none, such as ITEM_SINK; one that merely begins
alike (KAFKA_TOPIC) may be yours. If the resembling one is yours, too, set the real one as well. A misspelt variable of
the environment, or file of credentials, is warned of: others may have use for it.

`scrapy settings --get NAME` shows what counts here, without passwords; `scrapy items where` shows where output lands.
[servers.md](servers.md) has passwords, TLS and least rights.
"""


def reference() -> str:
    """Returns the document."""
    parts = [INTRODUCTION]
    for section, settings in groupby(config.ALL, lambda setting: setting.section):
        parts.append(f"\n## {section}\n\n| setting | default | values | |\n|---|---|---|---|\n")
        parts += map(_row, settings)
    return "".join(parts)


def _row(setting: Setting[Any]) -> str:
    why = setting.why
    if setting.secret:
        why += " A password in it is shown nowhere."
    if setting.owner:
        why += f" *{setting.owner}'s.*"
    cells = (f"`{setting.name}`", _default(setting), setting.expected, why)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _default(setting: Setting[Any]) -> str:
    value = setting.default
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, dict | tuple):
        return ", ".join(value)
    return f"{value} {setting.unit}".strip()
