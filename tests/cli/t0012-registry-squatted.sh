#!/bin/sh
# Names of boxes are free for everybody to bind: another user who does so holds up nobody and is taken for no box.
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
if [ "$(id -u)" -ne 0 ]; then
        skip "another user binds names of ours" "this needs two users, and so root"
        done_testing
fi
cc -O1 -o "$T/squat" "$here/helpers/squat.c" || { fail "the squatter compiles"; done_testing; }
chmod 755 "$T/squat"
"$CORDON" run -q --detach --name "mine-$$" -- sleep 60 >id || fail "the box starts"
mkfifo end
as_user "$T/squat" 0 "mine-$$" 1-1-1111111111111111 2-2-2222222222222222 <end >said 2>&1 &
exec 8>end
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -s said ] || sleep 0.2; done
is "another user has bound the name, and its queue is full" "$(cat said)" squats
has "ps goes on" "$(timeout 10 "$CORDON" ps 2>&1)" "mine-$$"
has "inspect finds the one that is ours" "$(timeout 10 "$CORDON" inspect "mine-$$" 2>&1)" "\"run\":\"$(cat id)\""
ok "so does stop" timeout 20 "$CORDON" stop --kill "mine-$$"
hasnt "what the other user bound is no box of ours" "$(timeout 10 "$CORDON" inspect "mine-$$" 2>&1)" '"run"'
exec 8>&-
wait
done_testing
