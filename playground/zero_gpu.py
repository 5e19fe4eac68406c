"""A Space on ZeroGPU, whose GPU is lent for the length of one function's call. Imported before Gradio and torch are: `spaces`, which the
Space brings, replaces parts of both. Anywhere else nothing happens here."""

import os

ON_ZERO_GPU = os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")

if ON_ZERO_GPU:
    import spaces
    import torch

    # `spaces` says that there is a GPU, so that models may be moved to one that comes later. Training would believe it: its optimiser asks
    # the driver about a device that this process never has. In the process that is lent one, `spaces` puts the real function back.
    torch.cuda.is_available = lambda: False

    @spaces.GPU
    def lent_gpu() -> str:
        """The name of the GPU that is lent. A Space without any function that asks for one isn't started by ZeroGPU. Nothing here calls it:
        models of this size are trained on the CPU in less time than visitors have a GPU for, and without a queue."""
        return torch.cuda.get_device_name()
