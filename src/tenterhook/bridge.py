"""What the line in an agent's settings runs: `python -I -S bridge.py --host NAME --event EVENT --record FILE`.

It is a file of its own so that it can be started with no package on the path. Exit status 10 is a block, which the
line's shell turns into 2: an interpreter that cannot begin exits with 2 as well, and that is no block.
"""

import gc
import sys

if __name__ == "__main__":
    gc.disable()  # nothing here lives long enough to be worth a look
    sys.path.append(__file__.rpartition("/tenterhook/")[0])  # behind the standard library
    from tenterhook.dispatch import main

    main(sys.argv[1:], block=10)
