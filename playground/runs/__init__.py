"""Runs: training in the background, kept on disk, looked at by many. The only package with threads, and the only one that writes files.
Read in this order:

names (ids that nobody can guess) · steady_clock (the time of day) · run (what a run is) · history (its curve) · replay, capture and
completer (what is kept to look at) · tokens (as people see them) · recording (training, written down) · timed_steps (as many as fit) ·
corpora (each built once) · lru and model_cache (what is kept at hand) · cut_off (what goes on by itself after a restart) · heap (free
memory goes back) · memory (one budget for all of it) · limits (what this server allows) · machine_speed and forecast (how long a training
will take) · pace (how long it still takes) · disk (files, folders, the store) · engines (where a model is trained) · queue (turns on the
cores) · updates (what a page is sent) · visitors (from which address they ask) · admission (who may have another run) · rules (who else is
asked) · retention (which runs stay) · lost (a step that never ends) · loaded and housekeeping (what nobody looks at makes room) · making
(new runs, copies and forks) · registry (what the page asks for: `Runs`) · health (how the server is) · tables (runs and curves for pandas
and as CSV) · upload_process (reading own sentences beside the page).

What is asked of a run stands in queries.
"""
