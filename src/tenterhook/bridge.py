"""The command in an agent's settings: `python -I -S bridge.py --host NAME --event EVENT --record FILE`.

It is started by its path, so that no package has to be on the path. Python compiles such a file at every start, so it
only imports dispatch/start.py, which comes from `__pycache__` like every module.
"""

if __name__ == "__main__":
    import sys
    from _signal import alarm  # type: ignore[import-not-found]  # `signal` would import `enum`
    from time import monotonic

    left = alarm(595) or 595  # seconds, until the record is read: slightly less than the timeout of any agent
    alarm(left)
    sys.path.append(__file__[: -len("/tenterhook/bridge.py")])  # behind the standard library
    from tenterhook.dispatch.start import start

    start(begun=monotonic() - (595 - left))  # bridge.pl may have waited for the daemon
