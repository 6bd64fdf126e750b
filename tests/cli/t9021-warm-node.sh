#!/bin/sh
# A warm node behaves as a plain one: the driver over a corpus of commands (tests/warm/node.cases).
. "$(dirname "$0")/lib.sh"
repo=$(cd "$(dirname "$0")/../.." && pwd)
node=/usr/bin/node
if [ -x "$node" ] && command -v python3 >/dev/null && "$node" -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; then
        result=$(timeout -k 5 300 python3 "$repo/tests/warm/compare.py" "$node" "$repo/src/wall/plan/drivers/node.cjs" "$repo/tests/warm/node.cases" 2>&1)
        has "output, messages and status are equal" "$result" " cases, 0 different"
        echo "$result" | sed 's/^/# /'
else
        skip "output, messages and status are equal" "python3, or node of at least 20, is not installed"
fi
done_testing
