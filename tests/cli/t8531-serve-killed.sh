#!/bin/sh
# kill -9 of `cordon serve --http` under load: each run that was answered is in the ledger, which verifies; nothing is left, and the next server works.
# And of each process that it started, one at a time: the server goes on.
# shellcheck disable=SC2034,SC2317
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
for p in curl jq python3; do command -v $p >/dev/null || { skip "a server that is killed" "$p is missing"; done_testing; }; done
whos="root as_user"
[ "$(id -u)" -eq 0 ] || whos=as_user
who=as_user
. "$here/helpers/serve.sh"
before=$(orphans)
mounts=$(grep -c cordon /proc/self/mountinfo)
tag=acked-$$

load() { # of a tenant; what it was answered is in $T/acks
        : >"$T/acks"
        rm -f "$T/hold" && mkfifo "$T/hold"
        python3 "$here/helpers/serve_acks.py" "$S" "$1" 4 "$tag" <"$T/hold" >"$T/acks" 2>"$T/noise" &
        load=$!
        exec 9>"$T/hold"
}
acked() { [ "$(wc -l <"$T/acks")" -ge "$1" ]; }
stop_load() { exec 9>&-; wait "$load"; }
# left: processes of this test's programs and boxes, but for its own
left() { grep -lsa -F -e "$tag" -e "$T/libexec" /proc/[0-9]*/cmdline | sed -n 's,^/proc/\([0-9]*\)/.*,\1,p' | while read -r p; do
        case $(cat "/proc/$p/stat" 2>/dev/null) in '' | *') Z '*) ;; *) echo "$p $(tr '\0' ' ' <"/proc/$p/cmdline" 2>/dev/null)" ;; esac
done; }
nothing() { left >"$T/left"; [ ! -s "$T/left" ]; }
files() { $who find "$base/a/state" "$C" \( -name ledger -o -name witness -o -name runs \) -prune -o -print 2>/dev/null | sort -u; }
ledger() { $who env CORDON_STATE="$base/a/state" "$CORDON" ledger "$@"; }
lost() { # runs that were answered and have no end, or another
        ledger --kind end --json >"$T/ends" 2>/dev/null
        jq -r '"\(.run) \(.result)"' "$T/ends" | sed -n 's/ exited / /p' | sort -u >"$T/had"
        sort -u "$T/acks" | comm -23 - "$T/had"
}
verified() { ledger verify --json >"$T/verified" 2>&1; jq -r .ok "$T/verified" 2>/dev/null || cat "$T/verified"; }

for who in $whos; do
        configure
        R=$C/run
        $who mkdir -m 700 "$R"
        tenant a
        base=$C/cordon/serve/tenants
        a=$(token a)
        serve
        run "$a" '{"argv":["true"]}' >/dev/null
        files >"$T/files"

        for round in 1 2; do
                load "$a"
                soon acked $((1 + $(od -An -N 1 -tu1 /dev/urandom) % 12))
                kill -9 "$serve"
                stop_load
                soon gone "$serve"
                ok "$who, $round: some were answered" acked 1
                is "$who, $round: each has its record" "$(lost)" ""
                is "$who, $round: the ledger verifies" "$(verified)" true
                ok "$who, $round: no process is left" soon nothing
                [ ! -s "$T/left" ] || cat "$T/left"
                serve
                is "$who, $round: started again, it works" "$(run "$a" '{"argv":["sh","-c","exit 5"]}' | jq .status)" 5
                is "$who, $round: no file is left" "$(files | comm -13 "$T/files" -)" ""
        done

        # the processes that it has started, while a run is under way
        descendants() { # "PID NAME" of each
                d_todo=$serve
                while [ -n "$d_todo" ]; do
                        d_next=
                        for p in $d_todo; do
                                for q in $(cat "/proc/$p/task/$p/children" 2>/dev/null); do
                                        d_next="$d_next $q"
                                        echo "$q $(cat "/proc/$q/comm" 2>/dev/null)"
                                done
                        done
                        d_todo=$d_next
                done
        }
        printf 'use base/system\nread {work}\nnet example.invalid:443\n' | $who sh -c 'cat >"$1"' sh "$base/a/policies/net.cordon"
        policy=net keeper=$(cat "/proc/$serve/comm") kinds="$keeper cordon-janitor cordon-egress cordon-init sleep"
        [ "$(run "$a" '{"argv":["true"],"policy":"net"}' | jq .status)" = 0 ] || { policy=default; kinds="$keeper cordon-janitor cordon-init sleep"; }
        sleeper() { descendants >"$T/children" && grep -q ' sleep$' "$T/children"; }
        for kind in $kinds; do
                id=$(run "$a" "{\"argv\":[\"sh\",\"-c\",\"sleep 8531; :\",\"$tag\"],\"policy\":\"$policy\",\"wait\":false}" | jq -r .id)
                ok "$who: a run is under way" soon sleeper
                victims=$(sed -n "s/ $kind\$//p" "$T/children")
                [ "$kind" = cordon-janitor ] || ok "$who: $kind is there" test -n "$victims"
                # shellcheck disable=SC2086
                kill -9 $victims 2>/dev/null
                is "$who: $kind killed: the server goes on" "$(run "$a" '{"argv":["sh","-c","exit 6"]}' | jq .status)" 6
                http DELETE "/v1/runs/$id" "$a" >/dev/null
                ended() { [ "$(http GET "/v1/runs/$id" "$a" | jq -r .state)" = ended ]; }
                ok "$who: $kind killed: its run ends" soon ended
                http GET "/v1/runs/$id" "$a" | jq -r .run >"$T/one"
                is "$who: $kind killed: it has a record of its end" "$(ledger --kind end --run "$(cat "$T/one")" --json | jq -r .kind)" end
        done
        is "$who: the ledger verifies" "$(verified)" true
        kill "$serve" && soon gone "$serve"
        ok "$who: at the end no process is left" soon nothing
done
ok "no control group is left" none_left
is "nor a mount" "$(grep -c cordon /proc/self/mountinfo)" "$mounts"
done_testing
