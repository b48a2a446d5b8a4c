"""What several tests of deploy/ share, since it takes long to make."""

from __future__ import annotations

import pytest
from deploy.dockerfile import build


@pytest.fixture(scope="session")
def image(tmp_path_factory):
    """A clean root with what the Dockerfile's first stage builds."""
    return build(tmp_path_factory.mktemp("image"))
