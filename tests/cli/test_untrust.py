"""`tenterhook untrust`: trusted hooks do not run any more."""

from __future__ import annotations
