"""Answers an agent's events, from the entry in its settings to the answer in its own form; and the daemon."""
