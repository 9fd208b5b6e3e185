"""The formats of hook definitions, payloads and answers: folder, table, array, and agents' own settings."""
