"""What the line in an agent's settings runs: `python -I -S bridge.py --host NAME --event EVENT --record FILE`.

It is a file of its own so that it can be started with no package on the path. Python compiles it at every start, which
is slow: all it does is to run dispatching/starting.py, out of the file that has everything compiled if it is there.
"""

if __name__ == "__main__":
    from _signal import alarm  # type: ignore[import-not-found]  # `signal` would import `enum`
    from time import monotonic

    left = alarm(595) or 595  # seconds, until we know better: a little before the patience of any agent is over
    alarm(left)
    begun = monotonic() - (595 - left)  # bridge.pl may have waited for a hub
    package, kept = __file__[: -len("/bridge.py")], None
    try:
        from _frozen_importlib_external import MAGIC_NUMBER
        from marshal import loads
        from posix import stat
        from sys import implementation

        kept = open(f"{package}/__pycache__/{implementation.cache_tag}.bundle", "rb", 0)  # noqa: SIM115  # stays open
        first = f"{package}/dispatching/starting.py"
        found = stat(first)
        if kept.read(44) != b"%b%20d%20d" % (MAGIC_NUMBER, found.st_mtime_ns, found.st_size):
            raise ValueError
        names = {"__name__": "starting", "__file__": first}
        exec(loads(kept.read(int(kept.read(8)))), names)  # noqa: S102, S302  # it is as good as any `.pyc`
    except Exception:  # noqa: BLE001  # there is none, or it is broken
        from sys import path

        path.append(package[: -len("/tenterhook")])  # behind the standard library
        from tenterhook.dispatching import starting

        names, kept = vars(starting), None
    names["start"](package, kept, begun)  # type: ignore[operator]  # a function
