"""The runtime below the reference controllers: pure parts, then as a real process."""
