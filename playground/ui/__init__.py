"""The page: the only place that knows Gradio. Controls are made from knobs, panels from what queries/ answers; nothing here touches torch.
Read in this order:

server (a running page) · ending (how it ends) · page (where everything stands) · controls (one for every knob) · listeners (what a control
does) · bridge (where Gradio's listeners and our script meet) · cost_estimate (what the settings amount to) · routes (what the page's script
reads) · command (the one route by which it changes something) · actions (what visitors do to runs) · rooms and room_question (what a class
does) · experiments (its arms) · assets, plotly_bundle and delivery (the page's own files, small and compressed) · network (its address in a
room) · address (a visitor's), shares, guard and fair_queue (what one of them may ask for) · connections (slow ones) · rights and permits
(who may ask for what) · gate (where each request is asked for its right) · calls (what is posted to Gradio's listeners) · sessions (what
Gradio keeps of a tab) · health (how the server is) · operator (for whoever runs it) · headers · pace (how often a page asks) · boot (what
it reads once) · downloads (a file for numpy) · takeaway (a run's zip) · link_preview (how a link to it looks elsewhere) · endpoints (what
programs ask for) · snippets (how) · first_screen and skip_links (what stands there at once) · shell (the page without Gradio, for a frozen
one) · links (what an address asks for) · view (the run, step and sentence that are looked at) · blocks (what a panel is made of) · panels
(one module a tab) · model_figure (the figure beside them) · miniature (a matrix as a thumbnail) · titles and compare (what to call runs) ·
seeds (runs that differ in nothing else) · selected_runs (which are looked at together) · class_board (those of a class) · measured (how a
number is written) · upload (own sentences).
"""
