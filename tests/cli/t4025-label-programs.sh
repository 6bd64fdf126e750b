#!/bin/sh
# Noninterference in real boxes: helpers/label_programs.py. LABEL_PROGRAMS sets how many programs; each runs twice.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null || { skip "programs with secrets" "python3 is not installed"; done_testing; }
export T
n=${LABEL_PROGRAMS:-16}
is "runs that differ only in secret bytes send equal bytes to every sink that does not accept them" \
        "$(timeout 900 python3 "$here/helpers/label_programs.py" "$CORDON" "$n" 2>&1)" "programs $n arrived True seen True wrong 0"
done_testing
