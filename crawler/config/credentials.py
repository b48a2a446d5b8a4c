"""Settings in files of their own: systemd's credentials, Docker's and Kubernetes' secrets.

CREDENTIALS_DIRECTORY names their folder; systemd sets it for a unit that has `LoadCredential=`. A file in it is called
as the setting, and holds its value: REDIS_URL, MONGO_URL, KAFKA_SASL_PASSWORD. An environment is inherited by every
program that a process starts, and shown by tools that describe containers; such a file is read by this process alone.
"""

from __future__ import annotations

import os
from pathlib import Path

from crawler.base.errors import HeadroomError, short

VARIABLE = "CREDENTIALS_DIRECTORY"


def names() -> list[str]:
    """Returns what the folder's files are called; empty: there is no folder, or it can't be listed."""
    try:
        return sorted(file.name for file in Path(os.environ[VARIABLE]).iterdir())
    except (KeyError, OSError):
        return []


def read(name: str) -> tuple[str, str] | None:
    """Returns what the file of a setting says, and its path; None: there is none.

    Raises:
        HeadroomError: The file is there and can't be read, or says nothing: a default, such as a Redis on this machine
            without a password, isn't what was meant then.
    """
    if not (folder := os.environ.get(VARIABLE)):
        return None
    file = Path(folder, name)
    try:
        value = file.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HeadroomError(f"{short(str(file))}: can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise HeadroomError(f"{short(str(file))}: isn't UTF-8") from None
    if not value:
        raise HeadroomError(f"{short(str(file))}: is empty; write the value of {name} into it, or take it away")
    return value, str(file)
