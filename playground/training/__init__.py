"""Learning (section 5): loss, schedule, muon, optimisers, metrics, and the loop, a generator of steps."""
