"""Suites of other distributions, and what suites know of each other."""
