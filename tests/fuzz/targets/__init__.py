"""The targets: each module has one function `fuzz`."""
