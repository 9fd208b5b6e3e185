"""The command in an agent's settings: `python -I -S bridge.py --host NAME --event EVENT --record FILE`.

It is started by its path, so that no package has to be on the module path. Python compiles such a file at every start,
so it only imports dispatch/start.py, which is cached in `__pycache__`.
"""

if __name__ == "__main__":
    import sys
    from _signal import alarm  # type: ignore[import-not-found]  # `signal` would import `enum`
    from time import monotonic

    left = alarm(595) or 595  # seconds, slightly less than any agent's timeout, until the record is read
    alarm(left)
    sys.path.append(__file__[: -len("/tenterhook/bridge.py")])  # after the standard library
    from tenterhook.dispatch.start import start

    start(begun=monotonic() - (595 - left))  # bridge.pl may have waited for the daemon
