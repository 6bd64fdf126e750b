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
"$CORDON" run -q --detach --name "mine-$$" -- sleep 600 >id || fail "the box starts"
# cordon asks boxes of its own user only. A program of another user that asks by itself is not answered, and its orders are not taken.
cp "$here/helpers/registry.py" "$T/registry.py" && chmod 644 "$T/registry.py"
own() { python3 "$T/registry.py" "$@"; }
other() { as_user python3 "$T/registry.py" "$@"; }
has "a keeper answers who asks by himself" "$(own ask 0 "$(cat id)" 1 0)" "\"name\":\"mine-$$\""
for request in 1:0 3:-1 2:15 2:9; do
        is "but not another user: request $request" "$(other ask 0 "$(cat id)" ${request%:*} ${request#*:})" nothing
done
has "and the box goes on" "$(timeout 10 "$CORDON" ps --json "mine-$$" 2>&1)" "\"run\":\"$(cat id)\""
# Who calls and says nothing is not waited for.
mkfifo mute
own silent 0 "$(cat id)" <mute >called 2>&1 &
exec 7>mute
soon test -s called
has "who calls and says nothing holds up nobody" "$(cat called; timeout 3 "$CORDON" ps --json "mine-$$" 2>&1)" "called
{\"run\":\"$(cat id)\""
exec 7>&-
# Another user's answer is none: a name like ours is everybody's to bind.
for pair in own:1 other:0; do
        who=${pair%:*}
        mkfifo "end-$who"
        $who pretend 0 "$$-3-3333333333333333" "false-$$" <"end-$who" >"bound-$who" 2>&1 &
        exec 7>"end-$who"
        soon test -s "bound-$who"
        is "$who: a name is bound" "$(cat "bound-$who")" bound
        is "$who: ps and inspect take what answers for a box: ${pair#*:}" "$(timeout 10 "$CORDON" ps 2>&1 | grep -c "false-$$"):$(timeout 10 "$CORDON" ps --json "false-$$" 2>&1 | grep -c '"run"')" "${pair#*:}:${pair#*:}"
        exec 7>&-
        wait $!
done
# Nor is a box two because its name stands in another user's, or in what looks like a line of the kernel's list.
for name in "x@cordon/0/$(cat id)" "$(printf 'x\n0: 00000002 00000000 00010000 0005 01 1 @cordon/0/%s' "$(cat id)")"; do
        : >bound && mkfifo named
        other bind "$name" <named >bound 2>&1 &
        exec 7>named
        soon test -s bound
        is "a name is bound: $(echo "$name" | tail -n 1 | cut -c 1-8)..." "$(cat bound)" bound
        is "and the box is one" "$(timeout 10 "$CORDON" ps 2>&1 | grep -c "mine-$$"):$(timeout 10 "$CORDON" ps --json "mine-$$" 2>&1 | jq -r .run)" "1:$(cat id)"
        exec 7>&-
        wait $!
        rm named
done
mkfifo end
as_user "$T/squat" 0 "mine-$$" "$$-1-1111111111111111" "$$-2-2222222222222222" <end >said 2>&1 &
exec 8>end
soon test -s said
is "another user has bound the name, and its queue is full" "$(cat said)" squats
has "ps goes on" "$(timeout 10 "$CORDON" ps 2>&1)" "mine-$$"
has "inspect finds the one that is ours" "$(timeout 10 "$CORDON" ps --json "mine-$$" 2>&1)" "\"run\":\"$(cat id)\""
ok "so does stop" timeout 20 "$CORDON" stop --kill "mine-$$"
hasnt "what the other user bound is no box of ours" "$(timeout 10 "$CORDON" ps --json "mine-$$" 2>&1)" '"run"'
exec 8>&-
wait
done_testing
