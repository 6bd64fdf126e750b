#!/bin/sh
# The label of a session is in the result of each run that another process begins in it, and on its `out` handles.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
repo=$(cd "$(dirname "$0")/../.." && pwd)
: "${BUILD:=$repo/build}"
mkdir "$T/w" "$T/w/hr" "$T/made" && echo secret >"$T/w/hr/a" && echo open >"$T/plain" && echo theirs >"$T/stamped" && chmod -R a+rX "$T/w" && chmod 777 "$T/made"
printf 'use base/system\nread %s/hr label private:hr\nrun any\nin data\nout res\nrule touch\n' "$T/w" >"$T/policy" && { grep -v data "$T/policy" && echo "read $T/made"; } >"$T/own.policy" && chmod 644 "$T/policy" "$T/own.policy" "$T/plain" "$T/stamped"
new() { $who "$CORDON" session new -q -p "${1:-$T/policy}" 2>"$T/err" | tail -n 1; }
# run FILE IN SCRIPT: its output, then the labels of its result and of its `out` handle.
run() {
        $who timeout 60 "$CORDON" session run -q "$id" --handle "data=$T/$2" --handle "res=$T/made/$1" --json -- sh -c "$3" </dev/null 2>"$T/err.$1"
        grep '^{' "$T/err.$1" >"$T/json.$1"
        echo "$(jq -r '.labels // "none"' "$T/json.$1"); $({ $who "$CORDON" label show "$T/made/$1" 2>/dev/null || echo "no label"; } | sed 's/.*: //')"
}
echo '{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}' >"$T/small.json"
printf 'use base/system\nrun any\nenv KEY=1 label untrusted\nout res as json(%s) endorse 1\nin data\n' "$T/small.json" >"$T/endorse" && chmod 644 "$T/small.json" "$T/endorse"
cp -L "$BUILD/libcordon.so.1" "$T/" && chmod 755 "$T/libcordon.so.1"
ok "a program with a session of its own compiles" "${CC:-cc}" -std=gnu11 -O2 -Wall -Wextra -Werror -I"$repo/include" -o "$T/own" "$(dirname "$0")/helpers/session_labels.c" "$BUILD/libcordon.so"
# shellcheck disable=SC2317
test_state() { [ -n "$(state)" ]; }
for who in root as_user; do
        [ "$who" = root ] && who=
        id=$(new) n=${who:-root}
        is "$n: a run that comes before the touch" "$(run "$n-1" plain 'echo x >"$CORDON_OUT_RES"')" "none; no label"
        is "$n: the one that touches" "$(run "$n-2" plain "cat $T/w/hr/a >/tmp/left")" "private:hr; private:hr"
        is "$n: one that reads what it left" "$(run "$n-3" plain 'cat /tmp/left; cat /tmp/left >"$CORDON_OUT_RES"')" "secret
private:hr; private:hr"
        is "$n: its file has the bytes" "$(cat "$T/made/$n-3")" secret
        $who "$CORDON" session end "$id" >/dev/null 2>&1

        # ---- the label rises while another run lasts, and by what the first one left running ----
        id=$(new)
        run "$n-4" plain 'until [ -s /tmp/left ]; do sleep 0.1; done; cat /tmp/left >"$CORDON_OUT_RES"' >"$T/slow" &
        slow=$!
        run "$n-5" plain "cat $T/w/hr/a >/tmp/new; mv /tmp/new /tmp/left" >/dev/null
        wait $slow
        is "$n: one that lasts while another touches" "$(cat "$T/slow") $(cat "$T/made/$n-4")" "private:hr; private:hr secret"
        $who "$CORDON" session end "$id" >/dev/null 2>&1

        id=$(new)
        got=$(run "$n-6" plain "(exec >/dev/null 2>&1; while :; do cat $T/w/hr/a >\"\$CORDON_OUT_RES\"; done) & exit 0")
        case "$got $(grep -c secret "$T/made/$n-6")" in
        "private:hr; private:hr "* | "none; no label 0") pass "$n: what a run leaves behind writes nothing without the label" ;;
        *) fail "$n: what a run leaves behind writes nothing without the label" "$got" ;;
        esac
        $who "$CORDON" session end "$id" >/dev/null 2>&1

        # ---- what one run is handed ----
        $who "$CORDON" label add "$T/stamped" private:crm untrusted >/dev/null 2>&1
        id=$(new)
        is "$n: a run that is handed a stamped file" "$(run "$n-7" stamped 'cat "$CORDON_IN_DATA" >/tmp/left')" "private:crm untrusted; private:crm untrusted"
        is "$n: the next has its label too" "$(run "$n-8" plain 'cat /tmp/left')" "theirs
private:crm untrusted; private:crm untrusted"
        is "$n: and the session" "$($who "$CORDON" session end "$id" --json 2>/dev/null | jq -r .labels)" "private:crm untrusted"
        has "$n: and the ledger" "$($who "$CORDON" ledger --json 2>/dev/null | grep "$(jq -r .run "$T/json.$n-8")" | grep exited)" "private:crm untrusted"
        $who "$CORDON" label drop --reason test "$T/stamped" private:crm untrusted >/dev/null 2>&1

        # ---- files that get no label; bits that many keepers would each have ----
        $who env CORDON_STATE="$(state_of "${who:-root}")" LD_LIBRARY_PATH="$T" timeout -k 5 100 "$T/own" "$T" >"$T/said" 2>"$T/err" </dev/null
        retell "$n" "$T/said"
        is "$n: the program ends well" "$(grep -c ^ok "$T/said") $(cat "$T/err")" "5 "
        id=$(new "$T/endorse")
        for i in a b; do
                is "$n: a run of another process keeps untrusted, however little it says" "$(run "$n-$i" plain 'echo "{\"ok\":true}" >"$CORDON_OUT_RES"')" "untrusted; untrusted"
        done
        $who "$CORDON" session end "$id" >/dev/null 2>&1

        # ---- the session ends while a run lasts: its label is known ----
        state() { $who "$CORDON" ps --json 2>/dev/null | jq -r ".[] | select(.run == \"$id\" and .runs == 1) | .keeper"; }
        for touch in : "cat $T/w/hr/a"; do
                id=$(new)
                run "$n-9" plain "$touch; exec sleep 60" >"$T/slow" &
                slow=$!
                soon test_state
                [ "$touch" = : ] || ok "$n: it has touched" soon grep -q secret "$T/slow"
                $who "$CORDON" session end "$id" >/dev/null 2>&1
                wait $slow
                want=none
                [ "$touch" = : ] || want="secret
private:hr"
                is "$n: the session ends while a run lasts" "$(cat "$T/slow")" "$want; no label"
        done

        # ---- the session is killed: its label is not known ----
        id=$(new)
        run "$n-9" plain 'sleep 60' >"$T/slow" &
        slow=$!
        soon test_state
        kill -KILL "$(state)"
        wait $slow
        has "$n: without an answer the result has the worst" "$(cat "$T/slow")" "private:* untrusted; no label"
done
done_testing
