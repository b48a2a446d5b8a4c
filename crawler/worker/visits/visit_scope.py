"""What the scopes of a visit's plans say of what it asks for, as more and more is known of that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.base.reasons import scope_reason
from crawler.scope.candidate import Candidate
from crawler.worker.visits.outcomes import Outcome
from crawler.worker.visits.refused import RefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.base.models import Seed
    from crawler.base.reasons import Reason
    from crawler.scope.candidate import Kind
    from crawler.scope.scope import Scope
    from crawler.scope.url_filter import Step
    from crawler.worker.visits.visit import Visit


class VisitScope:
    """Judges the requests of one visit.

    Args:
        scopes: Those of its plans that have one, each with the page as the plan wants it.
    """

    def __init__(self, visit: Visit, scopes: Sequence[tuple[Seed, Scope]]) -> None:
        self._visit, self._scopes = visit, scopes

    def asks(self, step: Step) -> bool:
        """Returns whether a filter can't judge before a step."""
        return any(scope.asks(step) for _seed, scope in self._scopes)

    def judge(self, url: str, kind: Kind = "page", **known: Any) -> None:
        """Leaves out of the visit the plans for which its page is out of scope; media of one plan are all plans'.

        Args:
            url: Canonical.
            known: Of `Candidate`, beside its URL.

        Raises:
            RefusedError: It is out of scope for all of the visit's plans.
        """
        visit, candidate = self._visit, Candidate.of(url, kind=kind)
        for name, value in known.items():
            setattr(candidate, name, value)
        wanted = {seed.plan: seed for seed in visit.seeds}  # by plans: what led here may have changed since
        outside: dict[Seed, Reason] = {}
        for seed, scope in self._scopes:
            candidate.depth = seed.depth
            if seed.plan in wanted and (name := scope.refusal(candidate)):
                outside[wanted[seed.plan]] = scope_reason(name)
        if outside and len(outside) == len(visit.seeds):
            raise RefusedError(
                Outcome("fail", next(iter(outside.values())) if kind == "media" else visit.agree(outside))
            )
        if outside and kind != "media":
            visit.leave_out(*outside)
            visit.leads_on = True  # plans that asked for the page aren't told of an item that isn't theirs
