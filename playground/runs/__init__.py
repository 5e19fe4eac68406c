"""Runs: background training, storage and live views. The only package with threads, and the only one that writes files.
Read in this order:

names (unguessable ids) · runtime (clocks and threads) · orders (the table of statuses and orders) · run (the state of a run) · history
(its curve) · rounded (a byte per number), replay and completer (frames and their decoding) · tokens (for display) · recording (training,
recorded) · corpora (each built once) · cache (one budget of memory, LRU caches, malloc) · model_cache · limits (of this server) ·
machine_speed and forecast (durations) · disk (files, folders, the store) · engines (where a model is trained) · queue (time slices on the
cores) · updates (increments for a page) · admission (limits on unfinished runs, hooks) · housekeeping (idle runs are unloaded, old ones
evicted) · making (new runs, copies and forks) · resuming (by order, after a restart, after a hung step) · registry (the interface: `Runs`)
· health (of the server) · tables (runs and curves for pandas and as CSV) · upload_process (reading uploads in a separate process, in a
fair queue).

Read-only queries about a run are in queries.
"""
