"""The claims of the MLBatch guide that speak of AppWrappers."""
