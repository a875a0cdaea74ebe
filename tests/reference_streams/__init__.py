"""The reference controller of Streams Jobs."""
