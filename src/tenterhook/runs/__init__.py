"""What runs a hook: processes, interpreters that wait for them, functions."""
