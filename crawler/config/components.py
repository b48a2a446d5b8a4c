"""Scrapy's dicts of components (middlewares, pipelines, extensions, handlers, add-ons), as several sides write them.

A component stands in such a dict as the path of its class or as the class itself. Both mean the same, so that what one
side says by path another may change by class. Here paths are written: `scrapy settings --get` prints no classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson
from scrapy.utils.python import global_object_name

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


def set_default(settings: BaseSettings, name: str, path: str, order: int) -> bool:
    """Adds a component where nobody has said anything of it, not even that it is off; the setting's priority stays.

    As Scrapy's `setdefault_in_component_priority_dict`, which writes the class.

    Returns:
        Whether it was added.
    """
    components = settings.getdict(name)
    if path in map(_path_of, components):
        return False
    settings.set(name, {**components, path: order}, settings.getpriority(name) or 0)
    return True


def joined(components: Mapping[Any, Any], further: object) -> dict[Any, Any]:
    """Returns the components with further ones; where both have a component, what these say of it.

    Args:
        further: A dict, or a JSON object as text, as Scrapy takes it.
    """
    changes: Any = orjson.loads(further) if isinstance(further, str) else further
    if not isinstance(changes, Mapping):
        raise TypeError
    paths = set(map(_path_of, changes))
    return {**{key: value for key, value in components.items() if _path_of(key) not in paths}, **changes}


def _path_of(key: object) -> object:
    """Returns the path of a class; anything else, such as a path, as it is."""
    return global_object_name(key) if isinstance(key, type) else key
