"""The page: the only place that knows Gradio. Controls are made from knobs, panels from results of queries/; nothing here touches torch.
Read in this order:

server (a running page) · ending (graceful shutdown) · page (its layout) · controls (one for every knob) · listeners (of the controls, and
the bridge to our script) · cost_estimate (of the settings) · routes (read by the page's script) · command (the only route that changes
runs) · actions (on runs) · rooms and room_question (of a class) · experiments (of a class) · assets, plotly_bundle and delivery (static
files, small and compressed; headers) · network (the server's address in a classroom) · address (a visitor's), guard and turns (rate limits
and fairness) · connections (slow clients) · rights (access control) · gate (its check for each request) · bodies and calls (the checks of
what is posted) · gradio_private (four places, see GRADIO.md) · operator (metrics, health) · pace (refresh rates) · boot (the page's start
data) · downloads (numpy files, a run's zip, code) · document (the first HTML) · first_screen (a picture in it) · endpoints (for programs) ·
shell (the page without Gradio, when frozen) · links (an address's parameters) · view (the run, step and sentence of a request) · blocks
(the parts of a panel) · panels (one module a tab) · model_figure (beside them) · miniature (thumbnails of matrices) · titles and compare
(names of runs) · seeds (runs that differ only in it) · selected_runs (viewed together) · class_board (the runs of a class) · measured
(number formats) · upload (own sentences).
"""
