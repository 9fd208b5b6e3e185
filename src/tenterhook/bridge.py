"""What the line in an agent's settings runs: `python -I -S bridge.py --host NAME --event EVENT --record FILE`.

It is a file of its own so that it can be started with no package on the path. Exit status 10 is a block, which the
line's shell turns into 2: an interpreter that cannot begin exits with 2 as well, and that is no block.
"""

import gc
import sys

if __name__ == "__main__":
    gc.disable()  # nothing here lives long enough to be worth a look
    package = __file__.rpartition("/")[0]
    sys.path.append(package.rpartition("/")[0])  # behind the standard library
    try:
        from _frozen_importlib_external import MAGIC_NUMBER
        from marshal import loads

        file = open(f"{package}/__pycache__/{sys.implementation.cache_tag}.bundle", "rb", 0)  # noqa: SIM115  # stays open
        if file.read(4) == MAGIC_NUMBER:
            length = int(file.read(8))
            code, entries = loads(file.read(length))  # noqa: S302  # it stands beside the `.pyc` files
            bundle: dict[str, object] = {"__name__": "bundle", "opened": (file.fileno(), 12 + length, entries)}
            exec(code, bundle)  # noqa: S102  # bundle.py
    except Exception:  # noqa: BLE001, S110  # there is none, or it is broken: modules are found one by one
        pass
    from tenterhook.dispatch import main

    main(sys.argv[1:], block=10)
