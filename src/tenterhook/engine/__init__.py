"""Turns an event into a verdict: match hooks, run them, read their decisions, merge the decisions."""
