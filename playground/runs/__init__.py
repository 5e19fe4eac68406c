"""Runs: background training, storage and live views. The only package with threads, and the only one that writes files.
Read in this order:

names (unguessable ids) · steady_clock (the time of day) · run (the state of a run) · history (its curve) · replay, capture and completer
(frames and their decoding) · tokens (for display) · recording (training, recorded) · timed_steps (time limits) · corpora (each built once)
· cache (one budget of memory, LRU caches, malloc) · model_cache · cut_off (automatic resumption after a restart) · limits (of
this server) · machine_speed and forecast (durations in advance) · pace (the remaining time) · disk (files, folders, the store) · engines
(where a model is trained) · queue (time slices on the cores) · updates (increments for a page) · visitors (their addresses) · admission
(limits on unfinished runs) · rules (hooks) · lost (hung steps) · housekeeping (idle runs are unloaded, old ones evicted)
· making (new runs, copies and forks) · registry (the interface: `Runs`) · health (of the server) · tables (runs and curves for pandas
and as CSV) · upload_process and upload_turns (reading uploads in a separate process, in a fair queue).

Read-only queries about a run are in queries.
"""
