"""What every test shares: one torch thread, so that numbers don't depend on the machine."""

import torch

import playground  # noqa: F401  first: it says how torch's threads wait

torch.set_num_threads(1)
