"""Run names that are easy to say in a classroom, unguessable ids, and the check of an owner's token."""

import hashlib
import hmac
import random
import secrets
from collections.abc import Collection

LABEL = 80  # characters
ADJECTIVES = (
    "amber", "agile", "bold", "brave", "breezy", "bright", "brisk", "calm", "cheery", "clever", "cosmic", "crisp", "curious",
    "daring", "dapper", "eager", "fleet", "fond", "gentle", "gleaming", "golden", "happy", "hardy", "honest", "humble", "jolly",
    "keen", "kind", "lively", "lucky", "mellow", "merry", "mighty", "nimble", "noble", "patient", "playful", "polite", "proud",
    "quick", "quiet", "rapid", "rosy", "shiny", "silent", "silver", "smart", "snowy", "spry", "steady", "sunny", "swift", "tidy",
    "tender", "tiny", "upbeat", "velvet", "vivid", "warm", "wise", "witty", "young", "zesty",
)  # fmt: skip
ANIMALS = (
    "alpaca", "badger", "bat", "bear", "beaver", "bee", "bison", "camel", "cat", "crane", "cricket", "deer", "dolphin", "dove",
    "duck", "eagle", "falcon", "ferret", "finch", "fox", "frog", "gecko", "gibbon", "goat", "goose", "hare", "hawk", "hedgehog",
    "heron", "ibex", "jackdaw", "jay", "koala", "lark", "lemur", "llama", "lynx", "magpie", "marmot", "marten", "mole", "moose",
    "mouse", "newt", "octopus", "otter", "owl", "panda", "parrot", "pelican", "penguin", "pony", "puffin", "quail", "rabbit",
    "raven", "robin", "salmon", "seal", "sparrow", "squirrel", "stork", "swan", "tiger", "toad", "trout", "turtle", "vole",
    "walrus", "weasel", "whale", "wolf", "wombat", "wren", "yak", "zebra",
)  # fmt: skip


def new_id() -> str:
    """Returns 22 URL-safe characters with 128 random bits."""
    return secrets.token_urlsafe(16)


def new_name(used_names: Collection[str]) -> str:
    """Returns an adjective-animal that isn't taken, numbered once all pairs are."""
    draw = random.SystemRandom()
    for _ in range(200):
        name = f"{draw.choice(ADJECTIVES)}-{draw.choice(ANIMALS)}"
        if name not in used_names:
            return name
    return next(numbered for n in range(2, len(used_names) + 3) if (numbered := f"{name}-{n}") not in used_names)


def clean_label(label: str) -> str:
    """Sanitises a label for storage and display: printable characters, no lone surrogates, at most LABEL characters."""
    text = str(label).encode("utf-8", "replace").decode()
    return "".join(c if c.isprintable() else " " for c in text)[:LABEL].strip()


def owner_of(token: str) -> str:
    """Returns the stored form of a token: its sha256 in hexadecimal."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def owns(owner: str, token: str) -> bool:
    """Returns whether the token is the owner's, compared in constant time. An empty token owns nothing; a run without an owner has none."""
    return bool(token) and hmac.compare_digest(owner.encode(), owner_of(token).encode())
