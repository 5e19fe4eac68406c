"""Runs: background training, storage and live views. The only package with threads, and the only one that writes files.
Read in this order:

names (unguessable ids) · runtime (clocks and threads) · orders (the table of statuses and orders) · run (the state of a run) · history
(its curve and its probes) · rounded (a byte per number), replay and completer (frames and their decoding) · recording (training, recorded)
· cache (one budget of memory, LRU caches, malloc) · corpora (and models, each built once) · limits (of this server) · machine_speed and
forecast (durations) · disk (files, folders, the store) · engines (where a model is trained) · queue (time slices on the cores) · tables
(increments for a page; runs and curves for pandas and as CSV) · admission (limits on unfinished runs, hooks) · housekeeping (idle runs are
unloaded, old ones evicted) · making (new runs, copies and forks; resumed ones) · registry (the interface: `Runs`) · upload_process (reading
uploads in a separate process, in a fair queue).

Read-only queries about a run are in queries.
"""
