"""Small tools that everything else stands on; most import next to nothing."""
