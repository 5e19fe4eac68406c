"""An address has its share of the places, a class has more, and neither has those that are left for others."""

import pytest

from playground.runs.rules import Rules
from tests.runs.by_hand import LONG, refused
from tests.runs.tiny import tiny


class Room(Rules):
    def in_room(self, token: str) -> bool:
        return token.startswith("s")


@pytest.mark.parametrize(("visitors", "most"), [("n", 3), ("s", 4)])
def test_no_address_takes_the_places_of_others_not_even_as_a_class(world, visitors, most):
    world.restart(runs_unfinished=6, runs_elsewhere=2, runs_address=3, runs_each=1)
    world.runs.rules = Room()

    def create(token: str, address: str) -> None:
        world.runs.visitors.came(token, address)
        world.runs.create(tiny(steps=LONG), token)

    for number in range(most):
        create(f"{visitors}{number}" * 16, "192.0.2.9")
    with refused("runs.too_many_near"):
        create(f"{visitors}9" * 16, "192.0.2.9")
    for number in range(2):
        create(f"e{number}" * 16, f"198.51.100.{number}")
