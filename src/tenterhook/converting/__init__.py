"""Hooks of one format written down in another, with a precise list of what cannot be carried."""
