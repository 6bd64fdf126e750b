#!/bin/sh
# Labels that come while a box runs: of what another box writes into a directory or a pipe that this one reads.
# shellcheck disable=SC2154,SC2016
. "$(dirname "$0")/lib-net.sh"
mkdir "$T/w" && cd "$T/w" || exit 1
printf 'x\n' >mine && "$CORDON" label add mine private:mine
label_of() { tail -n 1 "$1" | jq -r '.labels // "none"'; }
shown() { "$CORDON" label show --json "$@" | jq -r '.[].labels' | tr '\n' ' '; }
get='curl -sS -o /dev/null -w "%{http_code} " http://four.test/'
at=0
anew() { # $W: a directory of its own for each case, because what a labelled box can write keeps the label
        at=$((at + 1)) W=$T/w/$at
        mkdir "$W" "$W/shared" "$W/sync" "$W/next"
        await="echo >$W/sync/ready; until [ -e $W/sync/go ]; do sleep 0.05; done"
}
waits() { soon test -e "$W/sync/ready" || { fail "case $at begins" "$(cat "$T/err")"; done_testing; }; }
begin() { # SCRIPT OPTION...: in the background, until it waits
        script=$1
        shift
        "$CORDON" run -q --json --time 60s --write "$W/sync" "$@" -- sh -c "$script" >"$T/out" 2>"$T/err" </dev/null &
        pid=$!
        waits
}
go_on() { touch "$W/sync/go"; wait $pid; code=$?; }
writes() { "$CORDON" run -q --read mine --write "$W/shared" -- sh -c "echo private >$W/shared/x" </dev/null 2>"$T/said"; }

# ---- a directory ----
anew
begin "$get; $await; cat $W/shared/x; $get" --read "$W/shared" --net 'http://four.test/**'
writes
go_on
is "what a labelled box writes while another reads labels that one, and its broker" "$(tr '\n' ' ' <"$T/out")$(label_of "$T/err")" "200 private 403 private:mine"

anew
begin "$await; cat $W/shared/x" --read "$W/shared" --write "$W/next"
writes
is "what it may write has the label before it is told to go on" "$(shown "$W/next")" "private:mine "
go_on

anew
begin "$await" --read "$W/shared"
"$CORDON" label add "$W/shared" untrusted
go_on
is "a label that a person gives, too" "$(label_of "$T/err")" untrusted

anew
begin "$await" --read "$W/next"
writes
go_on
is "who cannot read it is not labelled" "$(label_of "$T/err")" none

anew
begin "$await" --read "$W/shared"
CORDON_STATE=$T/other writes
go_on
is "nor by a box of another state directory, which keeps other labels" "$(label_of "$T/err")" none

# ---- a door that does not accept it, whose bytes nobody holds ----
anew
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$W/s"
begin "$await" --read "$W/shared" --sock "$W/s"
writes
wait $pid
is "a box whose socket does not accept it ends" "$(tail -n 1 "$T/err" | jq -r '"\(.end) \(.labels)"')" "failed private:mine"

anew
begin "$await; cat $W/shared/x" --read "$W/shared"
kill -STOP $pid
is "one that does not answer is not passed over" "$(status "$CORDON" run -q --read mine --write "$W/shared" -- true)" 125
kill -CONT $pid
go_on

# ---- pipes ----
"$CORDON" run -q --read mine -- cat "$T/w/mine" 2>/dev/null | "$CORDON" run -q --json -- cat >"$T/out" 2>"$T/err"
is "a pipe from box to box" "$(cat "$T/out") $(label_of "$T/err")" "x private:mine"
anew
{
        "$CORDON" run -q --write "$W/sync" --read "$W/shared" -- sh -c "echo first; $await; cat $W/shared/x" 2>/dev/null </dev/null
} | "$CORDON" run -q --json -- cat >"$T/out" 2>"$T/err" &
pid=$!
waits
writes
go_on
is "a box that reads from one whose label rises has it" "$(tr '\n' ' ' <"$T/out")$(label_of "$T/err")" "first private private:mine"

# ---- recorded exchanges get their name at the end ----
printf 'use base/system\nread %s\nnet http://four.test/** accepts private:mine\n' "$T/w/mine" >policy
"$CORDON" run -q -p policy --record recorded -- curl -sS -o /dev/null http://four.test/ >"$T/said" 2>&1
is "recorded exchanges have the label of the run" "$(shown recorded)" "private:mine "

# ---- a session ----
anew
"$CORDON" session new --name live --read "$W/shared" >"$T/said" 2>&1
"$CORDON" session run live -- true >before 2>/dev/null
writes
"$CORDON" session run live -- true >after 2>/dev/null
is "a session has it from then on" "$(shown before after)" " private:mine "
"$CORDON" session end live >/dev/null 2>&1
done_testing
