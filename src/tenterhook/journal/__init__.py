"""The journal: what reached the hooks, what they did, what was decided. Appended by writers, indexed by readers."""
