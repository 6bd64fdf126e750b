#!/bin/sh
# Private files behind the process wall: a home and a place for temporary files, closed to other boxes, kept within the disk
# limit, gone with the box; what a killed keeper left goes with the next box of its user.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
root() { "$@"; }
box() { $who "$CORDON" run -q --ledger off --wall process "$@" </dev/null 2>&1; }
for who in root as_user; do
        out=$($who "$CORDON" run --ledger off --wall process -- sh -c 'cd && pwd && echo "$HOME" "$TMPDIR" && echo x >kept && cat kept && mktemp && python3 -c "import tempfile; print(tempfile.mkdtemp())"' 2>err </dev/null)
        home=$(echo "$out" | sed -n 1p)
        is "$who: HOME and TMPDIR are there" "$(echo "$out" | sed -n 2,3p)" "$home $home/tmp
x"
        is "$who: programs find them" "$(echo "$out" | sed -n '4,$p' | grep -c "^$home/tmp/")" 2
        hasnt "$who: nothing of it is said to be blocked" "$(cat err)" blocked
        has "$who: the note names them" "$(cat err)" "only HOME and TMPDIR are private"
        ok "$who: they are gone with the box" test ! -e "$home"
        is "$who: a variable of the policy stays" "$(box --env TMPDIR=/dev --env HOME=/etc -- sh -c 'echo $HOME $TMPDIR')" "/etc /dev"
        hasnt "$who: with run doors nothing runs that is written there" "$(box --use base/strict --run cp -- sh -c 'cp /bin/echo ~/e && echo WROTE && ~/e RAN')" RAN
        box --name "left-$who-$$" -- sh -c 'mkdir -p ~/a/b && echo z >~/a/b/c && ln -s /etc ~/etc && chmod 0 ~/a; echo secret >~/mine; pwd >~/ready; sleep 30' >other &
        waits() { set -- "${home%/*}"/*/ready && [ -e "$1" ]; }
        soon waits
        set -- "${home%/*}"/*/ready
        other=${1%/ready}
        has "$who: another box does not read it" "$(box -- cat "$other/mine")" "ermission denied"
        has "$who: nor lists it" "$(box -- ls "$other")" "ermission denied"
        box -- true
        ok "$who: nor does the end of another box remove it" test -e "$other/mine"
        top=${other#/} top=/${top%%/*}
        hasnt "$who: nor through a door to what is above" "$($who "$CORDON" run -q --ledger off --read "$top" -- cat "$other/mine" 2>&1 </dev/null)" secret
        kill -9 "$($who "$CORDON" ps --json "left-$who-$$" | jq .keeper)"
        wait $! 2>/dev/null
        ok "$who: what a killed keeper leaves" test -e "$other"
        gone() { box -- true && [ ! -e "$other" ]; }
        soon gone
        ok "$who: goes with the next box" test ! -e "$other"
        for fill in 'head -c 60M /dev/zero >$TMPDIR/big' 'exec 3>~/f; rm ~/f; head -c 60M /dev/zero >&3'; do
                $who "$CORDON" run -q --ledger off --wall process --disk 8M --time 20s --status-fd 3 -- sh -c "$fill; sleep 15" >/dev/null 3>status 2>&1 </dev/null
                is "$who: the disk limit holds: $fill" "$(jq -r .limit status)" disk
        done
done
# A name that somebody else took is not used.
if [ "$(id -u)" -eq 0 ] && mkdir /tmp/cordon-0 2>/dev/null; then
        chown 65531 /tmp/cordon-0
        who=root
        out=$(box -- sh -c 'echo $HOME')
        rmdir /tmp/cordon-0
        none() { [ ! -e /var/tmp/cordon-0 ]; }
        soon none
        has "a directory of another user is not used" "$out" /var/tmp/cordon-0/
        ok "and none is left" none
else
        skip "a directory of another user is not used" "only root can make one, and its name may be taken"
fi
# The runs of a session share them.
session=$("$CORDON" session new --ledger off --wall process --use base/strict 2>err) || cat err
home=$("$CORDON" session run -q "$session" -- sh -c 'echo kept >~/file; echo $HOME' 2>&1 </dev/null)
is "the runs of a session share them" "$("$CORDON" session run -q "$session" -- sh -c 'cat ~/file; echo $HOME' 2>&1 </dev/null)" "kept
$home"
"$CORDON" session end "$session" >out 2>&1 || cat out
ok "and they go with it" test ! -e "$home"
done_testing
