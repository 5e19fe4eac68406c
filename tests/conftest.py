"""What every test shares: one torch thread, so that numbers don't depend on the machine, and the same examples every time.

`pytest --hypothesis-profile=wander` looks for examples that nobody has tried yet.
"""

import torch
from hypothesis import settings

import playground  # noqa: F401  first: it says how torch's threads wait

torch.set_num_threads(1)
settings.register_profile("same", derandomize=True, database=None)
settings.register_profile("wander", derandomize=False)
settings.load_profile("same")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are called after their argument: a packed file holds the time at which it was packed, and all processes must agree on names."""
    return argname if isinstance(val, bytes) else None
