"""What a shell line would do: one reader for guards, approval rules, placeholders, presenter, lints and `convert`."""
