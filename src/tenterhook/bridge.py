"""What the line in an agent's settings runs: `python -I -S bridge.py --host NAME --event EVENT --record FILE`.

It is a file of its own so that it can be started with no package on the path. Python compiles it at every start, which
is slow: all it does is to run starting.py as Python keeps it compiled.
"""

if __name__ == "__main__":
    from _frozen_importlib_external import MAGIC_NUMBER
    from marshal import loads
    from posix import stat
    from sys import implementation

    package = __file__[: -len("/bridge.py")]
    not_kept: list[str] = []

    def code_of(name):  # type: ignore[no-untyped-def]  # annotations would cost each start a little
        source = f"{package}/{name}.py"
        try:
            with open(f"{package}/__pycache__/{name}.{implementation.cache_tag}.pyc", "rb", 0) as file:
                kept, found = file.read(), stat(source)
            made_from = int(found.st_mtime).to_bytes(4, "little") + found.st_size.to_bytes(4, "little")
            if kept[:16] == MAGIC_NUMBER + bytes(4) + made_from:
                return loads(kept[16:])  # noqa: S302  # it is as good as any `.pyc`
        except Exception:  # noqa: BLE001, S110  # there is none, or it is broken
            pass
        not_kept.append(name)
        with open(source, encoding="utf-8") as file:
            return compile(file.read(), source, "exec")

    starting = code_of("starting")  # type: ignore[no-untyped-call]  # see there
    exec(starting, {"__name__": "starting", "begun": (package, code_of, not_kept)})  # noqa: S102  # it stands beside us
