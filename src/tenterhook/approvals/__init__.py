"""Approvals: the policy, rules, approvals for the session, and requests that people answer."""
