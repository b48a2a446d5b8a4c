"""Finds and reads site files, first in the analyst's own folder, then in the package."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.base import yamlfile
from crawler.base.errors import InputError, existing, shown
from crawler.base.item import is_site_name
from crawler.sites import kinds
from crawler.sites.model import Site
from crawler.sites.site_error import SiteError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def parse(text: str | bytes, file: str) -> Site:
    """Returns the site that a file describes.

    Raises:
        InputError: The file is wrong; the error names the first place.
    """
    return site_of(yamlfile.parse(text, file))


def site_of(document: yamlfile.YamlDocument) -> Site:
    """Returns the site that a file describes, with what it takes over from its kind.

    Raises:
        InputError: The file is wrong; the error names the first place.
    """
    return yamlfile.validate(kinds.completed(document), Site)


def load(name: str, sites_dir: str = "") -> Site:
    """Returns a site by its name.

    Args:
        name: Name of the site, and of its file without `.yaml`.
        sites_dir: The analyst's folder (SITES_DIR), whose files hide built-in ones of the same name. Empty for none.

    Raises:
        SiteError: There is no such site; the message names similar or all known ones, and where they are looked for.
        InputError: The site's file is wrong.
    """
    if is_site_name(name):
        for folder in _folders(sites_dir):
            file = folder / f"{name}{kinds.SUFFIX}"
            if file.is_file():
                return _read(file, name)
    where = f"neither built in nor in SITES_DIR ({sites_dir or 'not set'})"
    raise SiteError(f"unknown site {shown(name)}, {where}; {existing(name, names(sites_dir), 'known')}")


def names(sites_dir: str = "") -> list[str]:
    """Returns the names of all sites, sorted.

    Raises:
        SiteError: `sites_dir` isn't a readable folder.
    """
    site_names = set()
    for folder in _folders(sites_dir):
        try:
            files = [file.name for file in folder.iterdir()]
        except OSError as error:
            raise SiteError(f"SITES_DIR {sites_dir}: {error.strerror}") from None
        site_names |= {file.removesuffix(kinds.SUFFIX) for file in files if file.endswith(kinds.SUFFIX)}
    return sorted(site_names)


def _folders(sites_dir: str) -> list[Traversable]:
    package = resources.files(__package__)  # also in a zipped egg, from which scrapyd runs projects
    built_in = [package, kinds.folder()]
    return [Path(sites_dir), *built_in] if sites_dir else built_in


def _read(file: Traversable, name: str) -> Site:
    try:
        text = file.read_bytes()
    except OSError as error:
        raise InputError(str(file), 0, "", error.strerror, "a readable file") from None
    document = yamlfile.parse(text, str(file))
    site = site_of(document)
    require_name(document, site, name)
    return site


def require_name(document: yamlfile.YamlDocument, site: Site, name: str) -> None:
    """Refuses a site that isn't called as its file: plans would not find it.

    Raises:
        InputError: It has another name.
    """
    if site.name != name:
        raise document.error(("name",), site.name, f"{name}, as the file is named")
