"""Small tools that all other packages use; most import next to nothing."""
