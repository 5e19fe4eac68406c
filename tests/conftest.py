"""What every test shares: one torch thread, so that numbers don't depend on the machine, and a group for each file, and one for the browser.

Two processes share the work, and a group stays in one of them: what a file prepares is prepared once, and there is one browser.
"""

from pathlib import Path

import pytest
import torch

import playground  # noqa: F401  first: it says how torch's threads wait

torch.set_num_threads(1)
BROWSER = Path(__file__).parent / "browser"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.xdist_group("browser" if BROWSER in item.path.parents else str(item.path)))
