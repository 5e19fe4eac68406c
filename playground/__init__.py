"""A playground for the Transformer of "Attention Is All You Need". Read in this order:

config (every choice) · cursor (every place to look) · model (the paper) · data (sentences in, batches out) · training (a generator of
steps) · decoding (greedy, beam, sampling) · inspection (facts about arrays) · runs (threads, disk, the replay) · figures (arrays in,
pictures out) · lessons (labs) · ui (the page).
"""

import os

# Torch's threads wait for each other many times in a step. By default they wait busily, which on a machine that has other work to do made
# a step of two threads 5 to 18 times slower. It must be said before torch is loaded for the first time.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
