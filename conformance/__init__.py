"""A conformance kit for the HOOK.md and `[[hooks]]` formats: vectors, and a runner that puts them to any engine."""

KIT = "1.1"  # the vectors; README.md says when it changes
PROTOCOL = 1  # what the runner and an adapter say to each other
