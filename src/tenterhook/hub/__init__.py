"""The hub: one inbox for the approvals of every agent. Needs the extra `hub`."""
