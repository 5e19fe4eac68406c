"""What every test shares: one torch thread, so that numbers don't depend on the machine, and the same examples every time.

`pytest --hypothesis-profile=night` tries many more examples, and others every time.
"""

import pytest
import torch
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

import playground  # noqa: F401  first: it says how torch's threads wait
from tests import thoroughness
from tests.durations import Durations

torch.set_num_threads(1)
settings.load_profile("same")

BROWSER = "tests/browser/"
HALVES = ("a", "h")  # of all stories, by the first letter of their files: each is told with a browser and a server of its own


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew-durations", action="store_true", help="write the twenty slowest of this run to tests/durations.json")


def pytest_configure(config: pytest.Config) -> None:
    everything = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not config.option.keyword
    if config.option.renew_durations and not everything:
        raise pytest.UsageError("--renew-durations goes with a run of all tests.")
    if everything and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations(config))


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    thoroughness.mark_the_others_slow(items)
    last = {HALVES[0]: 0, "": 1, HALVES[1]: 2}
    items.sort(key=lambda item: last[half(config, item.nodeid)])


def half(config: pytest.Config, nodeid: str) -> str:
    """Which half of the stories a test belongs to; "" for what is told in no browser. What takes longest begins first: the first half,
    which one process tells while another runs all that needs no browser; then that one tells the other half. The few stories that are
    not slow all belong to the first."""
    file = nodeid.removeprefix(f"{BROWSER}test_")
    few = "not slow" in config.option.markexpr
    return "" if file == nodeid else HALVES[0] if few else max(letter for letter in HALVES if letter <= file)


class FileByFile(LoadFileScheduling):
    """What a file prepares is prepared once; and half of what is told in a browser is told with one browser and one server."""

    def _split_scope(self, nodeid: str) -> str:
        return BROWSER + half(self.config, nodeid) if half(self.config, nodeid) else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> FileByFile | None:
    return FileByFile(config, log) if config.option.dist == "loadfile" else None


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are called after their argument: a packed file holds the time at which it was packed, and all processes must agree on names."""
    return argname if isinstance(val, bytes) else None
