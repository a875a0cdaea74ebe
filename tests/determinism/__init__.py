"""Same seed, same bytes: nothing but the seed decides what a simulated run does."""
