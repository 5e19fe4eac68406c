"""What every test shares: one torch thread, so that numbers don't depend on the machine."""

import torch

import playground  # noqa: F401  first: it says how torch's threads wait

torch.set_num_threads(1)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are called after their argument: a packed file holds the time at which it was packed, and all processes must agree on names."""
    return argname if isinstance(val, bytes) else None
