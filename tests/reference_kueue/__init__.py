"""The reference of Kueue: its pure parts, and its cycles."""
