"""The page: the only place that knows Gradio. Controls are made from knobs, panels by features/; nothing here touches torch, but for a GPU
that a Space lends. Read in this order:

server (a running page, and its graceful shutdown) · page (its layout, with Gradio and frozen) · controls (one for every knob, and the cost
of the settings) · listeners (of the controls, and the bridge to our script) · routes (read by the page's script) · command (the only route
that changes runs, and its actions) · rooms and room_actions (of a class) · assets and delivery (static files, small and compressed;
headers) · network (the server's address in a classroom, and a visitor's) · guard and turns (rate limits and fairness) · rights (access
control, and its check of each request) · calls (the check of what is posted) · gradio_private (four places, see GRADIO.md) · operator
(metrics, health) · boot (links, and the page's start data) · downloads (numpy files, a run's zip, code) · document (the first HTML, with a
picture in it) · endpoints (for programs).
"""

import os

# Set before Gradio is imported: by default it sends telemetry, and keeps a long event log that it copies after each event.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", "1000000")
os.environ.setdefault("GRADIO_ANALYTICS_MAX_EVENTS", "100")
# uvicorn would trust forwarding headers of every local process; PLAYGROUND_PROXIES declares the proxies (see network.py)
os.environ.setdefault("FORWARDED_ALLOW_IPS", "")
# A Space on ZeroGPU lends a GPU for single function calls. Its module `spaces` must be imported before Gradio and torch, and patches both.
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
