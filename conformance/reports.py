"""Results for people, for programs and for CI."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from conformance import KIT, PROTOCOL
from conformance.trying import FAILED, PASSED, STATUSES, UNSUPPORTED, Result

if TYPE_CHECKING:
    from collections.abc import Sequence


def counts(results: Sequence[Result]) -> dict[str, int]:
    """How many of each status."""
    return {status: sum(result.status == status for result in results) for status in STATUSES}


def by_area(results: Sequence[Result]) -> dict[str, list[Result]]:
    areas: dict[str, list[Result]] = {}
    for result in results:
        areas.setdefault(result.vector.area, []).append(result)
    return areas


def text(results: Sequence[Result]) -> str:
    """Each failure with its difference, then a table of the areas."""
    lines = [line for result in results if result.status == FAILED for line in (*_failure(result), "")]
    reasons: dict[str, list[str]] = {}
    for result in results:
        if result.status == UNSUPPORTED:
            reasons.setdefault(result.why, []).append(result.vector.id)
    for why, ids in reasons.items():
        shown = ", ".join(ids[:3]) + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")
        lines.append(f"unsupported: {why} ({shown})")
    lines += ["", *_table(results)] if lines else _table(results)
    return "\n".join(lines)


def _failure(result: Result) -> list[str]:
    vector = result.vector
    lines = [f"FAILED {vector.id}: {vector.title} [{vector.level}, PROTOCOL {vector.protocol}]"]
    if result.why:
        lines.append(f"  {result.why}")
    for what, expected, got in result.differences:
        lines += [f"  {what}", f"    expected  {_shown(expected)}", f"    got       {_shown(got)}"]
    return lines


def _shown(value: Any) -> str:
    return value if isinstance(value, str) and value.isprintable() else json.dumps(value, ensure_ascii=False)


def _table(results: Sequence[Result]) -> list[str]:
    areas = by_area(results)
    width = max(map(len, (*areas, "area")))
    lines = ["".join((f"{'area':{width}}", *(f"{status:>13}" for status in STATUSES)))]
    for area, those in areas.items():
        lines.append("".join((f"{area:{width}}", *(f"{number:13}" for number in counts(those).values()))))
    total = counts(results)
    lines += ["", ", ".join(f"{number} {status}" for status, number in total.items())]
    return lines


def as_json(results: Sequence[Result], engine: str) -> dict[str, Any]:
    """The whole run as data."""
    return {
        "kit": KIT,
        "protocol": PROTOCOL,
        "engine": engine,
        "counts": counts(results),
        "results": [_result_as_json(result) for result in results],
    }


def _result_as_json(result: Result) -> dict[str, Any]:
    vector = result.vector
    return {
        "id": vector.id,
        "area": vector.area,
        "title": vector.title,
        "level": vector.level,
        "format": vector.format,
        "status": result.status,
        "why": result.why,
        "differences": [difference._asdict() for difference in result.differences],
        "seconds": round(result.seconds, 3),
    }


def as_junit(results: Sequence[Result]) -> str:
    """The run as a test report: what is not supported was skipped."""
    root = ElementTree.Element("testsuites")
    for area, those in by_area(results).items():
        total = counts(those)
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=area,
            tests=str(len(those)),
            failures=str(total[FAILED]),
            skipped=str(total[UNSUPPORTED]),
        )
        for result in those:
            name = result.vector.id.partition("/")[2]
            case = ElementTree.SubElement(suite, "testcase", classname=area, name=name, time=f"{result.seconds:.3f}")
            if result.status != PASSED:
                kind = "failure" if result.status == FAILED else "skipped"
                said = "\n".join(_failure(result)) if kind == "failure" else result.why
                ElementTree.SubElement(case, kind, message=_for_xml(said))
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _for_xml(said: str) -> str:
    """Text without the characters that XML cannot hold."""
    return "".join(char if char.isprintable() or char in "\n\t" else "�" for char in said)
