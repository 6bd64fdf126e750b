#!/bin/sh
# Ways around limits: what is tried on purpose, where a hog is merely greedy.
# alone: limits that bite in time.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
cc -O1 -static -o "$T/evade" "$here/helpers/evade.c" || { fail "the evader compiles"; done_testing; }
chmod 755 "$T/evade"
root() { "$@"; }
# run ARGUMENT...: as $who; output in out, result in status
run() { $who "$CORDON" run -q --status-fd 3 "$@" 3>status >out 2>err </dev/null; }
get() { jq -r "$1" <status 2>&1; }
grouped() { [ "$(get .kept_by.memory)" = cgroup ]; }

# --- memory: the kernel says that it is out before it has killed, and who looks at once sees no kill yet. Each time. ---
who=root late='' named=''
for _ in 1 2 3 4 5 6; do
        run --memory 32M --time 20s -- "$T/evade" child-memory 500
        late=$late$(cat out) named="$named $(get .limit)"
        grouped || break
done
if grouped; then
        is "memory: a child that is killed for it ends the box" "$named" " memory memory memory memory memory memory"
        is "memory: its parent does not go on" "$late" ''
else
        skip "memory: a child that is killed for it ends the box" "no control group keeps memory here"
fi
done_testing
