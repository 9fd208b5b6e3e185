"""The stages of an event that only think: which hooks, what each meant, what we do."""
