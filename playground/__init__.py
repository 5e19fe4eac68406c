"""A playground for the Transformer of "Attention Is All You Need". Read in this order:

config (every choice) with choices (those that are more than a name) and knobs (what a knob is) · cursor (every place to look) · tasks (toy
tasks) · model (the paper) · data (sentences in, batches out) · training (a generator of steps) · decoding (greedy, sampling, beam search)
· inspection (facts about arrays) · variants (a model changed on purpose) · runs (threads, disk, the replay) · queries (what is asked of a
run) · lessons (labs, experiments, the course) · figures (arrays in, pictures out) · ui (the page) · freeze (the page as files) · reading
(the files that people bring) · words (every sentence a person reads) · arguments and cli (the command line) · readme (what the README
takes from the code).
"""

import os

# Torch's threads wait for each other many times in a step. By default they wait busily, which on a machine that has other work to do made
# a step of two threads 5 to 18 times slower. It must be said before torch is loaded for the first time.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
