"""Failures made small, from the plan that fails to the replay file beside the page."""
