"""Structural checks of JUnit XML and SARIF 2.1.0: what the schemas of both require of what debrief writes."""
import json
import re
import xml.etree.ElementTree as xml

SARIF_LEVELS = {"none", "note", "warning", "error"}
URI_REFERENCE = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://[\w.~%-]*)?(?:[\w.~/-]|%[0-9A-F]{2})*")


def junit_problems(text, findings):
    """Counts agree with what is there, every case has a name, and every finding is a case."""
    root = xml.fromstring(text)
    if root.tag != "testsuites":
        yield "JUnit: the root is no testsuites"
    cases = []
    for suite in root:
        own = suite.findall("testcase")
        cases += own
        counts = {"tests": len(own), "failures": len(suite.findall("testcase/failure")), "errors": len(suite.findall("testcase/error")),
                  "skipped": len(suite.findall("testcase/skipped"))}
        for name, count in counts.items():
            if suite.get(name) != str(count):
                yield f"JUnit: {name} is {suite.get(name)}, there are {count}"
        if suite.tag != "testsuite" or not suite.get("name") or float(suite.get("time")) < 0:
            yield "JUnit: a suite lacks its name or time"
    for name in ("tests", "failures", "skipped"):
        if root.get(name) != str(sum(int(suite.get(name)) for suite in root)):
            yield f"JUnit: {name} of all suites"
    for case in cases:
        if not case.get("name") or not case.get("classname") or len(case) > 1:
            yield f"JUnit: a case without a name, or with two outcomes: {case.attrib}"
        if {child.tag for child in case} - {"failure", "skipped", "system-out"}:
            yield f"JUnit: what is {case[0].tag}?"
    wanted = sum(one["severity"] != "info" and one["role"] != "consequence" for one in findings)
    if int(root.get("failures")) != wanted or len(cases) != max(len(findings), len(list(root))) and len(list(root)) == 1:
        yield f"JUnit: {root.get('failures')} failures, {wanted} wanted"


def sarif_problems(text, findings):
    log = json.loads(text)
    if log["version"] != "2.1.0" or "sarif" not in log["$schema"] or set(log) != {"$schema", "version", "runs"}:
        yield "SARIF: not a log of 2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    ids = [rule["id"] for rule in driver["rules"]]
    if driver["name"] != "debrief" or not driver["version"] or len(set(ids)) != len(ids):
        yield "SARIF: the driver"
    if len(run["results"]) != len(findings):
        yield f"SARIF: {len(run['results'])} results of {len(findings)} findings"
    for result in run["results"]:
        yield from result_problems(result, ids)


def result_problems(result, ids):
    known = {"ruleId", "ruleIndex", "level", "message", "locations", "rank", "partialFingerprints", "properties"}
    if set(result) - known or ids[result["ruleIndex"]] != result["ruleId"] or result["level"] not in SARIF_LEVELS:
        yield f"SARIF: a result of {result['ruleId']}"
    if not result["message"]["text"] or not -1 <= result.get("rank", -1) <= 100:
        yield f"SARIF: message or rank of {result['ruleId']}"
    if not result["locations"]:
        yield f"SARIF: {result['ruleId']} has no place"
    for location in result["locations"]:
        place = location["physicalLocation"]
        if not URI_REFERENCE.fullmatch(place["artifactLocation"]["uri"]):
            yield f"SARIF: {place['artifactLocation']['uri']} is no URI reference"
        if place.get("region", {"startLine": 1})["startLine"] < 1:
            yield "SARIF: a line below 1"
    if not all(isinstance(value, str) for value in result["partialFingerprints"].values()):
        yield "SARIF: fingerprints are strings"


def self_test():
    """Both can fail."""
    assert list(junit_problems('<testsuites tests="1" failures="0" skipped="0"><testsuite name="x" tests="2" failures="0" errors="0" '
                               'skipped="0" time="0"><testcase classname="a" name="b"/></testsuite></testsuites>', []))
    log = {"$schema": "sarif", "version": "2.1.0", "runs": [{"tool": {"driver": {"name": "debrief", "version": "1", "rules": [{"id": "a"}]}}, "results": [
        {"ruleId": "a", "ruleIndex": 0, "level": "bad", "message": {"text": "x"}, "locations": [], "rank": 1, "partialFingerprints": {}, "properties": {}}]}]}
    assert len(list(sarif_problems(json.dumps(log), [{}]))) == 2
