"""The clients of a hub: agents ask it, the uploader sends journal records, and `tenterhook inbox` answers requests."""
