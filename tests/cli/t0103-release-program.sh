#!/bin/sh
# What is for attacking our own walls exists in test builds only: a release has no switch to leave a layer out.
. "$(dirname "$0")/lib.sh"
words() { LC_ALL=C tr -c '[:print:]' '\n' <"$1" | grep -E "$2"; }
is "the program knows no CORDON_KNOCKOUT" "$(words "$CORDON" CORDON_KNOCKOUT)" ""
is "the program knows no CORDON_STEP" "$(words "$CORDON" CORDON_STEP)" ""
has "the look itself finds words" "$(words "$CORDON" '^usage: |cordon help')" "cordon help"
is "a layer that is named stays up" "$(CORDON_KNOCKOUT=seccomp,landlock "$CORDON" run --json -- true 2>&1 | grep -c '"seccomp","landlock"')" 1
hooks=${CORDON_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}/build-hooks/src/cli/cordon
if [ -x "$hooks" ]; then
        has "a test build knows the switch" "$(words "$hooks" CORDON_KNOCKOUT)" CORDON_KNOCKOUT
else
        skip "a test build knows the switch" "there is no build-hooks"
fi
done_testing
