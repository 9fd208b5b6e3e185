"""Clients of a hub: agents' requests, the uploader of journal records, and `tenterhook inbox`."""
