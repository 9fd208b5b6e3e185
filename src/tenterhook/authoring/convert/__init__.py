"""Hooks of one format rewritten in another: every field is carried, or listed as lost."""
