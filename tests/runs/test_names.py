import re

from playground.runs.names import ADJECTIVES, ANIMALS, new_id, new_name, owner_of, owns


def test_ids_stand_in_a_link_and_are_not_to_be_guessed():
    ids = {new_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{22}", id) for id in ids)


def test_names_are_two_words_and_never_taken():
    taken = set()
    for _ in range(600):
        name = new_name(taken)
        assert name not in taken
        adjective, animal = name.split("-")
        assert adjective in ADJECTIVES
        assert animal in ANIMALS
        taken.add(name)


def test_when_all_are_taken_a_number_follows():
    every = {f"{adjective}-{animal}" for adjective in ADJECTIVES for animal in ANIMALS}
    name = new_name(every)
    assert re.fullmatch(r"[a-z]+-[a-z]+-2", name)
    assert new_name(every | {f"{other}-2" for other in every}).endswith("-3")


def test_a_token_owns_what_was_made_with_it():
    owner = owner_of("secret")
    assert re.fullmatch(r"[0-9a-f]{64}", owner)
    assert owns(owner, "secret")
    for other in ("Secret", "", owner, "secret\0", "\ud800", "密"):
        assert not owns(owner, other)
    assert not owns("", "")
    assert not owns("", "anything")
