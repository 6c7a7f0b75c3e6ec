#!/usr/bin/env bash
# Runs what uses threads with the thread sanitizer (build/tsan, made by `make tsan`): unit tests, goldens, serve, watch and the
# verdicts of the reference jobs.
#
# usage: tests/tsan/run.sh [unit|golden|serve|watch|verdict]...
#
# Reports lie in build/tsan/reports; one is a failure, whatever the suites say. A suite that ran out of time or of the sanitizer's
# own limits is told and does not count: other builds run it in full.
set -uo pipefail
cd "$(dirname "$0")/../.."
reports=$PWD/build/tsan/reports
rm -rf "$reports" && mkdir -p "$reports"
export TSAN_OPTIONS="suppressions=$PWD/tests/tsan/suppressions.txt exitcode=0 log_path=$reports/race"
binary=build/tsan/debrief

suite() {
  case $1 in
    unit) build/tsan/debrief_unit --gtest_brief=1 ;;
    golden) python3 tests/golden/run.py --binary $binary ;;
    serve) python3 tests/serve/test_serve.py --binary $binary ;;
    watch) python3 tests/watch/test_watch.py --binary $binary ;;
    verdict) python3 tests/conformance/run.py --binary $binary --time not test_verdict ;;
    *) echo "no suite $1" >&2; return 1 ;;
  esac
}

for name in "${@:-unit golden serve watch verdict}"; do
  for each in $name; do
    before=$(find "$reports" -type f | wc -l)
    suite "$each" >"build/tsan/$each.log" 2>&1
    code=$?
    echo "$each: exit code $code, $(tail -n 1 "build/tsan/$each.log"); $(($(find "$reports" -type f | wc -l) - before)) processes with reports"
  done
done
found=$(cat "$reports"/* 2>/dev/null | grep -c '^WARNING: ThreadSanitizer' || true)
echo "thread sanitizer: $found reports"
[[ $found == 0 ]]
