"""What goes wrong with a site."""

from crawler.base.errors import HeadroomError


class SiteError(HeadroomError):
    """A site doesn't exist, or can't do what a plan asks of it."""
