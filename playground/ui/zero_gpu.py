"""Support for a Space on ZeroGPU, which lends a GPU for single function calls. Must be imported before Gradio and torch: the Space's module
`spaces` patches both. Elsewhere it does nothing."""

import os

ON_ZERO_GPU = os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")

if ON_ZERO_GPU:
    import spaces
    import torch

    # `spaces` pretends that there is a GPU, so that models can be moved to a later one. Training would fail: its optimiser asks the driver
    # about a device this process never has. In the process that borrows one, `spaces` restores the real function.
    torch.cuda.is_available = lambda: False

    @spaces.GPU
    def lent_gpu() -> str:
        """Returns the name of the borrowed GPU. Never called: ZeroGPU only starts Spaces with a function that requests a GPU. Models of
        this size train on the CPU in less time than a visitor's GPU quota, and without a queue."""
        return torch.cuda.get_device_name()
