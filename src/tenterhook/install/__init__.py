"""Changes to agents' settings, and their exact removal."""
