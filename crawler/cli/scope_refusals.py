"""Which plans' scopes refuse an address, and by which filter: why it is nowhere in Redis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.base import yamlfile
from crawler.base.errors import HeadroomError
from crawler.scope.candidate import Candidate
from crawler.scope.scope import Scope
from crawler.scope.scope_file import ScopeFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.plans.operator import Operator


async def scope_refusals(operator: Operator, url: str, settings: Mapping[str, Any]) -> str:
    """Returns what to add to a line that says that an address isn't known; empty: no plan's scope refuses it.

    How many links lead to it isn't known, so `depth` refuses nothing here.
    """
    candidate, said = Candidate.of(url), ""
    for name, record in (await operator.registry.plans()).items():
        if not (written := record.definition.get("scope")):
            continue
        try:
            document = yamlfile.YamlDocument(f"definition of plan {name!r}", written)
            refusal = Scope.of(yamlfile.validate(document, ScopeFile), settings).refusal(candidate)
        except HeadroomError as error:
            said += f"; whether the scope of plan {name} refuses it can't be told here: {error}"
        else:
            said += f"; the scope of plan {name} refuses it by its filter {refusal}" if refusal else ""
    return said
