"""Approvals of tool calls: the policy, rules, approvals for the session, and requests that people answer."""
