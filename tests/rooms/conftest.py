from pathlib import Path

import pytest

from tests.rooms.group import ANNA, BEN, Group


@pytest.fixture
def group(tmp_path: Path) -> Group:
    return Group(tmp_path / "rooms")


@pytest.fixture
def pair(group: Group) -> Group:
    group.join(ANNA, "Anna")
    group.join(BEN, "Ben")
    return group
