#!/bin/sh
# The host's ledger has the heads of its tenants' ledgers: one that was cut, rewritten, exchanged or removed is found by verifying the host's.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
command -v curl >/dev/null && command -v jq >/dev/null || { skip "heads of tenants" "curl or jq is missing"; done_testing; }
. "$here/helpers/serve.sh"
configure
tenant a b idle
base=$C/cordon/serve/tenants
a=$(token a) b=$(token b)
verify() { cordon ledger verify --json >"$T/verified" 2>"$T/err"; v_status=$?; }
finds() { jq -r '.findings | join("\n")' "$T/verified"; }
heads() { cordon ledger --kind head --json | jq -r '.result + " " + .target + " " + (.count | tostring)'; }
of() { jq -r ".tenants[] | select(.tenant == \"$1\") | $2" "$T/verified"; }

serve
for i in 1 2 3; do run "$a" '{"argv":["true"]}' >/dev/null; done
run "$b" '{"argv":["true"]}' >/dev/null
kill "$serve" && soon gone "$serve"
is "the end records a head of each tenant that had runs" "$(heads | grep '^end' | cut -d ' ' -f 1,2 | sort)" "end a
end b"
verify
is "they fit" "$v_status $(of a .fits) $(of b .fits)" "0 true true"
is "and cover every record" "$(of a .records)" "$(CORDON_STATE=$base/a/state; $who env CORDON_STATE="$CORDON_STATE" "$CORDON" ledger verify --json | jq .records)"
has "in words" "$(cordon ledger verify)" "tenant a: "

had=$(heads | grep -c '^start [ab]') # of a ledger that was new, perhaps
serve
started() { [ "$(heads | grep -c '^start [ab]')" -eq $((had + 2)) ]; }
ok "a start records those of all that have a ledger" soon started
run "$a" '{"argv":["true"]}' >/dev/null
kill "$serve" && soon gone "$serve"
is "a tenant without a new run has no new head" "$(heads | tail -n 1 | cut -d ' ' -f 1,2)" "end a"
verify
is "a ledger that grew fits all of them" "$v_status $(of a '"\(.heads >= 3) \(.fits)"')" "0 true true"

is "it does not start without them" "$($who env XDG_CONFIG_HOME="$C" XDG_RUNTIME_DIR="$C" CORDON_STATE=/dev/null timeout 60 "$CORDON" serve --http "unix:$S" 2>&1 | grep -c "does not start without a record")" 1

# Each attack on a copy of the state, which is put back.
keep() { $who cp -a "$base/a/state" "$base/a/kept" && $who cp -a "$base/b/state" "$base/b/kept"; }
back() { for t in a b; do $who rm -rf "$base/$t/state" && $who mv "$base/$t/kept" "$base/$t/state"; done; }
sealed() { $who env CORDON_STATE="$base/a/state" CORDON_LIBEXEC="$CORDON_LIBEXEC" "$CORDON" ledger verify --json >"$T/own" 2>&1 && [ "$(jq '.records == .sealed' "$T/own")" = true ]; }
in_a() { $who env HOME=/nonexistent CORDON_STATE="$base/a/state" timeout 60 "$CORDON" "$@" </dev/null >/dev/null 2>&1; }

keep
$who rm -rf "$base/a/state/ledger" "$base/a/state/witness"
verify
is "removed" "$v_status $(of a .fits) $(of b .fits)" "1 false true"
has "is said" "$(finds)" "tenant a: its ledger is gone"
if command -v python3 >/dev/null; then
        cp -a "$(state_of "$who")" "$T/state-forged"
        python3 - "$here/helpers" "$T/state-forged/ledger" "$base/a/state" <<'PY'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import forge_ledger
forge_ledger.put_record(sys.argv[2], kind="head", target="a", result="dropped", more={"state": sys.argv[3]})
PY
        forged() { $who env CORDON_STATE="$T/state-forged" CORDON_LEDGER=off "$CORDON" ledger "$@" --json; }
        forged verify >"$T/verified" 2>"$T/err"
        is "a record behind the seal, that its owner dropped it, excuses nothing" \
                "$(of a .fits) $(forged --kind head | jq -r .result | tail -n 1)" "false dropped"
fi
cordon selftest audit --json >"$T/audit" 2>/dev/null
is "and is a debt" "$(jq -r '.checks[] | select(.id == "tenants.heads") | "\(.state) \(.evidence)"' "$T/audit")" "open the ledgers of 2 tenants were verified, 1 do not fit their heads: a"
in_a run -q -- true
soon sealed
is "a new one in its place verifies by itself" "$(jq .ok "$T/own")" true
verify
is "and is found" "$v_status $(of a .fits)" "1 false"
back

keep
$who mv "$base/a/state" "$base/a/x" && $who mv "$base/b/state" "$base/a/state" && $who mv "$base/a/x" "$base/b/state"
verify
is "exchanged ledgers are found in both" "$v_status $(of a .fits) $(of b .fits)" "1 false false"
back

keep
seg=$base/a/state/ledger/segments/00000001.seg
size=$($who stat -c %s "$seg")
$who truncate -s $((size - 200)) "$seg"
verify
is "cut" "$v_status $(of a .fits)" "1 false"
back

if command -v python3 >/dev/null; then
        keep
        run_of() { cordon ledger --kind head --json | head -n 1 >/dev/null; $who env CORDON_STATE="$base/a/state" "$CORDON" ledger --json | jq -r 'select(.kind == "start").run' | head -n 1; }
        first=$(run_of)
        $who python3 "$here/helpers/ledger_age.py" "$base/a/state/ledger" 100 "$first" >/dev/null
        verify
        is "rewritten" "$v_status $(of a .fits)" "1 false"
        back
else
        skip "rewritten" "python3 is not installed"
fi
verify
is "put back it fits" "$v_status" 0

is "a ledger that fits is not forgotten" "$(status cordon serve tenant forget a)" 125
is "nor what nothing is known of" "$(status cordon serve tenant forget nosuch) $(status cordon serve tenant forget idle)" "125 125"
$who rm -rf "$base/a/state/ledger" "$base/a/state/witness"
has "what was begun anew on purpose can be said" "$(cordon serve tenant forget a 2>&1)" "heads of the ledger of a"
serve
run "$a" '{"argv":["true"]}' >/dev/null
kill "$serve" && soon gone "$serve"
verify
is "then older heads no longer count" "$v_status $(of a '"\(.heads <= 2) \(.fits)"')" "0 true true"
is "and it is on record" "$(heads | grep -c '^dropped a')" 1

# a tenant that is removed, and one of the same name
tokens() { cordon serve token ls --json | jq -r '.[] | select(.tenant == "b") | .void'; }
$who rm -rf "$base/b"
is "a token of a tenant that was removed is void" "$(tokens)" true
tenant b
is "also for a new one of that name" "$(tokens)" true
new=$(token b)
serve
run "$b" '{"argv":["true"]}' >/dev/null
is "it runs nothing" "$(answered)" 401
is "a token of the new one does" "$(run "$new" '{"argv":["true"]}' | jq .status)" 0
kill "$serve" && soon gone "$serve"
has "forgotten with the heads" "$(cordon serve tenant forget b 2>&1 | xargs)" "of the ledger of b removed its tokens: "
is "the token of the new one stays" "$(tokens)" false
is "a name that none can have" "$(status cordon serve tenant forget a/b)" 125
done_testing
