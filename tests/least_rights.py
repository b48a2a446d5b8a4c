"""A user of Redis with the least rights, as docs/servers.md has it made."""

from __future__ import annotations

from crawler.frontier.rights import COMMANDS, IN_A_CLUSTER, OPTIONAL


def acl_rule(prefix, *, cluster=False):
    """Returns the rules of such a user, as ACL SETUSER takes them behind name and password."""
    names = (*COMMANDS, *(IN_A_CLUSTER if cluster else ()), *OPTIONAL)
    return f"resetkeys ~{prefix}:* resetchannels &{prefix}:* -@all " + " ".join(f"+{name}" for name in names)
