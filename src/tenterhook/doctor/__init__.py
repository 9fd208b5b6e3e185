"""Whether guards are in force: checks of settings and hooks, and a live run of the real agent."""
