"""Inputs that nobody thought of, for as long as there is time: `make fuzz SECONDS=60`.

A target is a file in `targets` with one function `fuzz`, decorated with Hypothesis's `given`, that fails for an input
that breaks a promise. It runs in a process of its own, in an empty home.
"""
