"""The page: the only place that knows Gradio. Controls are made from knobs, panels by features/; nothing here but zero_gpu touches torch.
Read in this order:

server (a running page, and its graceful shutdown) · page (its layout, with Gradio and frozen) · controls (one for every knob, and the cost
of the settings) · listeners (of the controls, and the bridge to our script) · routes (read by the page's script) · command (the only route
that changes runs, and its actions) · rooms and room_actions (of a class) · assets and delivery (static files, small and compressed;
headers) · network (the server's address in a classroom, and a visitor's) · guard and turns (rate limits and fairness) · rights (access
control, and its check of each request) · calls (the check of what is posted) · gradio_private (five places, see GRADIO.md) · zero_gpu (a
Space with a borrowed GPU) · operator (metrics, health) · boot (links, and the page's start data) · downloads (numpy files, a run's zip,
code) · document (the first HTML, with a picture in it) · endpoints (for programs).
"""

