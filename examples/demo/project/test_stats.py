import sys

import stats

assert stats.mean([1, 2, 6]) == 3
if (found := stats.median([1, 2, 3, 4])) != 2.5:
    sys.exit(f"FAIL: the median of 1, 2, 3, 4 is 2.5, not {found}")
