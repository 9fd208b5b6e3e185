"""Am I protected? What would keep a guard from holding, found without the agent (checks) and with it (canary)."""
