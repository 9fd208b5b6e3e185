"""The adapter of Tenterhook's own engine: a request on stdin, its verdict on stdout."""

from __future__ import annotations

import json
import sys
from typing import Any

from tenterhook import Engine, Event


def decided(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request."""
    configs = [request["config"]] if request["config"] else []
    engine = Engine.load(request["project"], configs, trust_project=True, journal=False)
    for event in (*request["earlier"], request):
        verdict = engine.decide(
            Event.from_payload(
                event["event"], event["payload"], session_id=request["session_id"], work_dir=request["project"]
            )
        ).as_json()
    return answer(verdict)


def answer(verdict: dict[str, Any]) -> dict[str, Any]:
    told = ("decision", "reason", "modified_input", "modified_output", "additional_context", "messages", "problems")
    failed = [run["hook"] for run in verdict["runs"] if run["outcome"] in ("failed", "timed_out")]
    return {**{key: verdict[key] for key in told}, "failures": failed}


if __name__ == "__main__":
    print(json.dumps(decided(json.load(sys.stdin))))
