"""What the line in an agent's settings runs: `python -I -S bridge.py --host NAME --event EVENT --record FILE`.

It is a file of its own so that it can be started with no package on the path, and compiled at every start: as short as
can be. A hub on this machine is asked first (handing_over.py); its socket stands beside the record. Exit status 10 is a
block, which the line's shell turns into 2: an interpreter that cannot begin exits with 2 as well, and that is no block.
"""

import gc
import sys

if __name__ == "__main__":
    gc.disable()  # nothing here lives long enough to be worth a look
    import posix

    package = __file__.rpartition("/")[0]
    state, _, name = sys.argv[-1].rpartition("/installed/")
    sent = answer = None
    try:
        if name:
            posix.stat(state + "/hub.sock")  # mostly there is none, and that is all it costs
            place = package + "/handing_over.py"
            hub: dict[str, object] = {"__name__": "handing_over", "__file__": place}
            with open(place, encoding="utf-8") as source:
                exec(compile(source.read(), place, "exec"), hub)  # noqa: S102  # it stands beside us
            sent = hub["everything_sent"]()  # type: ignore[operator]
            answer = hub["ask_hub"](state + "/hub.sock", sys.argv[1:], sent)  # type: ignore[operator]
    except OSError:  # there is none
        pass
    if answer:
        hub["end_with"](answer)  # type: ignore[operator]
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

    main(sys.argv[1:], block=10, sent=sent)
