"""Approvals: what is asked, what rules and earlier answers say about it, and who answers."""
