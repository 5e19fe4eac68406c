"""The page: the only place that knows Gradio. Controls are made from knobs, panels from results of queries/; nothing here touches torch.
Read in this order:

server (a running page) · ending (graceful shutdown) · page (its layout) · controls (one for every knob) · listeners (of the controls) ·
bridge (between Gradio's listeners and our script) · cost_estimate (of the settings) · routes (read by the page's script) · command (the
only route that changes runs) · actions (on runs) · rooms and room_question (of a class) · experiments (of a class) · assets, plotly_bundle
and delivery (static files, small and compressed) · network (the server's address in a classroom) · address (a visitor's), guard and
turns (rate limits and fairness) · connections (slow clients) · rights (access control) · gate (its check for each request)
· calls (of Gradio's listeners) · gradio_private (four places, see GRADIO.md) · health · operator (metrics) · headers · pace (refresh rates) · boot
(the page's start data) · downloads (numpy files, a run's zip) · document (the first HTML) · endpoints (for programs) ·
snippets (code for them) · first_screen (a picture in it) · shell (the page without Gradio, when frozen) · links (an
address's parameters) · view (the run, step and sentence of a request) · blocks (the parts of a panel) · panels (one module a tab) ·
model_figure (beside them) · miniature (thumbnails of matrices) · titles and compare (names of runs) · seeds (runs that differ only in it) ·
selected_runs (viewed together) · class_board (the runs of a class) · measured (number formats) · upload (own sentences).
"""
