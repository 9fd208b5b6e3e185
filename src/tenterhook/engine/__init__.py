"""An event to a verdict: which hooks match, what running them did, what each one decided, and what follows."""
