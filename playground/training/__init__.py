"""Learning (section 5): loss, schedule, muon, optimisers, metrics, health, and the loop, a generator of steps."""
