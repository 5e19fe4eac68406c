"""The page: the only place that knows Gradio. Controls are made from knobs, panels by features/; nothing here touches torch.
Read in this order:

server (a running page) · ending (graceful shutdown) · page (its layout) · controls (one for every knob) · listeners (of the controls) ·
bridge (between Gradio's listeners and our script) · cost_estimate (of the settings) · routes (read by the page's script) · command (the
only route that changes runs) · actions (on runs) · rooms and room_question (of a class) · experiments (of a class) · assets, plotly_bundle
and delivery (static files, small and compressed) · network (the server's address in a classroom) · address (a visitor's), shares, guard and
fair_queue (rate limits and fairness) · connections (slow clients) · rights (access control) · gate (its check for each request)
· calls (of Gradio's listeners) · sessions (of Gradio, kept small) · health · operator (metrics) · headers · pace (refresh rates) · boot
(the page's start data) · downloads (numpy files, a run's zip) · link_preview (in chats and posts) · endpoints (for programs) ·
snippets (code for them) · first_screen and skip_links (in the first HTML) · shell (the page without Gradio, when frozen) · links (an
address's parameters).
"""
