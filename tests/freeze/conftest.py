"""The same app as for the tests of the page."""

from tests.ui.conftest import site

__all__ = ["site"]
