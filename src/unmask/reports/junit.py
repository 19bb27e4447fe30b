"""A result as JUnit XML, which every CI system shows: one test per finding, failed from severity high on."""

from __future__ import annotations

from xml.etree import ElementTree

from unmask.results.policy import Severity
from unmask.results.readable import readable
from unmask.results.result import Result

LONG = 2_000  # characters of a text; XML has no place for control characters, so all are made readable


def junit_xml(result: Result, fail_on: Severity = Severity.HIGH) -> str:
    """One test suite; findings at or above `fail_on` are failures (none if that is none), what was not tested is skipped."""
    suite_name = readable(f"unmask.{result.audit}")
    failed = [finding for finding in result.findings if 0 < fail_on.rank <= finding.severity.rank]
    suite = ElementTree.Element(
        "testsuite",
        name=readable(f"unmask {result.audit}"),
        tests=str(len(result.findings) + len(result.not_tested)),
        failures=str(len(failed)),
        errors="1" if result.failed_tasks else "0",
        skipped=str(len(result.not_tested)),
    )
    for finding in result.findings:
        case = ElementTree.SubElement(suite, "testcase", classname=suite_name, name=readable(finding.name))
        if finding in failed:
            failure = ElementTree.SubElement(
                case, "failure", message=readable(finding.title, LONG), type=str(finding.severity)
            )
            text = f"{finding.title}\n{finding.threat}\n{finding.advice}\nSeed {result.seed}."
            failure.text = readable(text, LONG)
        else:
            ElementTree.SubElement(case, "system-out").text = readable(finding.title, LONG)
    for item in result.not_tested:
        case = ElementTree.SubElement(suite, "testcase", classname=suite_name, name=readable(item.name))
        ElementTree.SubElement(case, "skipped", message=readable(f"{item.reason}; {item.remedy}", LONG))
    if result.failed_tasks:
        case = ElementTree.SubElement(suite, "testcase", classname=suite_name, name="runs")
        ElementTree.SubElement(
            case, "error", message=f"{result.failed_tasks} runs failed; see the notes of the result."
        )
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"
