"""What every test shares: one torch thread, so that numbers don't depend on the machine, and how two processes divide the tests."""

import pytest
import torch
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

import playground  # noqa: F401  first: it says how torch's threads wait

torch.set_num_threads(1)


class ByFile(LoadScopeScheduling):
    """What a file prepares is prepared once; and there is one browser, beside everything else."""

    def _split_scope(self, nodeid: str) -> str:
        return "browser" if nodeid.startswith("tests/browser/") else nodeid.split("::", 1)[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile:
    return ByFile(config, log)
