"""A real agent, run headless against a scripted model on loopback: is what we installed in force?"""
