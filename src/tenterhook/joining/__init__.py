"""This machine's side of a hub: questions go there, and what the journal holds."""
