"""The stages of an event that run no hook: which hooks, what each meant, what we do."""
