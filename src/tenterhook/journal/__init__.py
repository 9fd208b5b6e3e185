"""The journal of events, runs and verdicts: appended to by writers, indexed by readers."""
