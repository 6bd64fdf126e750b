#!/bin/sh
# A warm python3 behaves as a plain one: the driver over a corpus of commands (tests/warm/python3.cases).
. "$(dirname "$0")/lib.sh"
repo=$(cd "$(dirname "$0")/../.." && pwd)
python=/usr/bin/python3
if [ -x "$python" ] && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        result=$(timeout -k 5 300 "$python" "$repo/tests/warm/compare.py" "$python" "$repo/src/wall/plan/drivers/python3.py" "$repo/tests/warm/python3.cases" 2>&1)
        has "output, messages and status are equal" "$result" " cases, 0 different"
        echo "$result" | sed 's/^/# /'
else
        skip "output, messages and status are equal" "python3 of at least 3.11 is not installed"
fi
done_testing
