"""A result as JUnit XML, which every CI system shows: the verdict and every finding, failed as the exit code says."""

from __future__ import annotations

from xml.etree import ElementTree

from unmask.results.readable import readable
from unmask.results.result import Result
from unmask.results.state import FailOn
from unmask.results.verdict import verdict

LONG = 2_000  # characters of a text; XML has no place for control characters, so all are made readable


def junit_xml(result: Result, fail_on: FailOn = FailOn.HIGH) -> str:
    """One test suite; findings at or above `fail_on` are failures (none if that is none), what was not tested is skipped.

    The verdict is a test of its own. It fails where it is no answer and `fail_on` asks for one.
    """
    suite_name = readable(f"unmask.{result.audit}")
    failed = [finding for finding in result.findings if fail_on.on_finding(finding)]
    said, unanswered = verdict(result), fail_on.on_state(result.state)
    suite = ElementTree.Element(
        "testsuite",
        name=readable(f"unmask {result.audit}"),
        tests=str(1 + len(result.findings) + len(result.not_tested)),
        failures=str(len(failed) + unanswered),
        errors="1" if result.failed_tasks else "0",
        skipped=str(len(result.not_tested)),
    )
    case = ElementTree.SubElement(suite, "testcase", classname=suite_name, name="verdict")
    text = readable("\n".join((f"{said.badge.label}: {said.sentence}", *said.support, *said.left_out)), LONG)
    if unanswered:
        message = readable(said.sentence, LONG)
        ElementTree.SubElement(case, "failure", message=message, type=said.badge.name).text = text
    else:
        ElementTree.SubElement(case, "system-out").text = text
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
