"""What an agent runs for each event, from the line in its settings to the answer in its own form."""
