#!/bin/sh
# Load on `cordon serve --http` with restarts, kill -9 and a full disk in it: each run that was acknowledged has one result, and none ran twice.
# CORDON_SOAK_ROUNDS: how many rounds of the three (2).
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
for p in curl jq python3; do command -v $p >/dev/null || { skip "a soak" "$p is missing"; done_testing; }; done
who=root
[ "$(id -u)" -eq 0 ] || { skip "a soak" "it takes root to mount a disk that gets full"; done_testing; }
. "$here/helpers/serve.sh"
configure
mkdir -p "$C/cordon" && chmod 700 "$C/cordon"
mount -t tmpfs -o size=80m,mode=700 none "$C/cordon" 2>/dev/null || { skip "a soak" "no tmpfs can be mounted"; done_testing; }
trap 'code=$?; exec 9>&-; for p in $pids; do kill "$p" 2>/dev/null; done; for p in $pids; do soon gone "$p"; done; umount -l "$C/cordon"; remove "$T"; exit $code' EXIT
base=$C/cordon/serve/tenants
for t in a b c; do
        tenant $t
        echo '{"runs": 3, "queue": 1000, "rate": 100000}' >"$base/$t/tenant.json"
        printf 'use base/system\nwrite {work}\nlimit time 30s\n' >"$base/$t/policies/w.cordon"
        eval "k_$t=\$(token $t)"
done
serve --drain 2s
mkfifo "$T/hold" && exec 9<>"$T/hold"
loads=""
for t in a b c; do
        eval "k=\$k_$t"
        python3 "$here/helpers/serve_soak.py" "$S" "$k" "$t" <"$T/hold" >"$T/acks.$t" 2>"$T/noise.$t" &
        loads="$loads $!"
done
acked() { cat "$T"/acks.? | grep -vc '^odd'; }
more() { [ "$(acked)" -ge "$1" ]; }
for round in $(seq "${CORDON_SOAK_ROUNDS:-2}"); do
        n=$(acked)
        ok "round $round: load" soon more $((n + 25))
        kill -9 "$serve" && soon gone "$serve"
        serve --drain 2s
        ok "round $round: after kill -9" soon more $((n + 50))
        head -c 100000000 /dev/zero >"$C/cordon/fill" 2>/dev/null
        full() { [ "$(up | jq -r .status)" = degraded ]; }
        ok "round $round: the disk is full" soon full
        rm -f "$C/cordon/fill"
        well() { [ "$(up | jq -r .status)" = ok ]; }
        ok "round $round: and has room" soon well
        n=$(acked)
        ok "round $round: it goes on" soon more $((n + 25))
        kill "$serve" && soon gone "$serve"
        serve --drain 2s
        ok "round $round: after a restart" soon more $((n + 50))
done
echo >&9
for p in $loads; do wait "$p"; done
is "no answer but 202, 429, 503 and 507" "$(grep -h '^odd' "$T"/acks.?)" ""
over() { for t in a b c; do eval "k=\$k_$t"; [ "$(http GET '/v1/runs?state=queued&limit=1' "$k" | jq '.runs | length')$(http GET '/v1/runs?state=running&limit=1' "$k" | jq '.runs | length')" = 00 ] || return 1; done; }
ok "all end" soon over
for t in a b c; do
        eval "k=\$k_$t"
        : >"$T/all.$t"
        next=
        while :; do
                http GET "/v1/runs?limit=1000$next" "$k" >"$T/page"
                jq -r '.runs[] | "\(.id) \(.state) \(.end) \(.status)"' "$T/page" >>"$T/all.$t"
                more_=$(jq -r '.next // ""' "$T/page")
                [ -n "$more_" ] || break
                next="&before=$more_"
        done
        cut -d' ' -f2 "$T/acks.$t" | sort >"$T/sent.$t"
        cut -d' ' -f1 "$T/all.$t" | sort >"$T/have.$t"
        is "$t: each that was acknowledged is there" "$(comm -23 "$T/sent.$t" "$T/have.$t" | wc -l)" 0
        is "$t: and has ended" "$(grep -vc ' ended ' "$T/all.$t")" 0
        is "$t: none ran twice" "$(sort "$base/$t/files/$t.log" | uniq -d | wc -l)" 0
        # what ended well has run
        while read -r key id; do grep -q "^$id ended exited 0" "$T/all.$t" && echo "$key"; done <"$T/acks.$t" | sort >"$T/good.$t"
        is "$t: what ended well has run" "$(sort "$base/$t/files/$t.log" | comm -13 - "$T/good.$t" | wc -l)" 0
        echo "# $t: $(wc -l <"$T/acks.$t") acknowledged; $(cut -d' ' -f3 "$T/all.$t" | sort | uniq -c | xargs)"
        is "$t: the ledger verifies" "$(http GET /v1/ledger/verify "$k" | jq .ok)" true
done
kill "$serve" && soon gone "$serve"
done_testing
