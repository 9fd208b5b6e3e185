"""What an agent runs for each event, from the entry in its settings to the answer in its own form; and the daemon."""
