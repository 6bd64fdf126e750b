#!/bin/sh
# cordon selftest audit: a clean host, a seeded debt in each group, waivers, ages, the trend and the status.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
command -v jq >/dev/null || { skip "the audit" "jq is not installed"; done_testing; }
XDG_CONFIG_HOME=$T/config
export XDG_CONFIG_HOME
cd "$T" || exit 1
run() { "$CORDON" run -q "$@" >/dev/null 2>&1 </dev/null; }
state() { CORDON_STATE=$T/$1; export CORDON_STATE; mkdir -m 700 "$CORDON_STATE"; }
audit() { "$CORDON" selftest audit --json "$@" >"$T/audit" 2>"$T/err" </dev/null; }
of() { jq -r ".checks[] | select(.id == \"$1\") | $2" "$T/audit"; }
open_of() { jq -r "[.checks[] | select(.group == \"$1\" and .state == \"open\").id] | join(\" \")" "$T/audit"; }

# --- a clean host ---
state clean
printf 'box clean\nuse base/system\nrun true\nexpect deny read {home}/.ssh/id_rsa\nexpect deny net GET https://example.org/\n' >clean.cordon
run -- true
audit clean.cordon
is "a clean state owes nothing but what the host does" "$(jq -c '[.checks[] | select(.state == "open" and .group != "host" and .id != "caps.sampled").id]' audit)" "[]"
is "every attempt was judged, or has no object" "$(jq -r '[.checks[] | select(.state == "unknown").id] | join(" ")' audit)" ""
is "ten groups" "$(jq -r '.groups | keys | join(" ")' audit)" "caps envelope gates host lifetimes runtimes schemas self tenants validators"
is "the manual and the specification name about their number" "$(for f in man/cordon-selftest-audit.1 SPECIFICATION.md; do
        said=$(grep -oE 'about [0-9]+ checks' "${CORDON_SOURCE:-$(dirname "$0")/../..}/$f" | grep -oE '[0-9]+')
        jq --argjson said "${said:-0}" '(.checks | length) - $said | fabs <= 15' audit
done | sort -u)" true
is "about ninety checks or more, half of them tried" "$(jq '(.checks | length) >= 90 and ([.checks[] | select(.live)] | length) * 100 / (.checks | length) >= 45' audit)" true
is "each has evidence, a remedy and a technique" "$(jq '[.checks[] | select(.evidence == "" or .remedy == "" or (.technique | test("^(T[0-9]{4}|AML[.]T[0-9]{4})$") | not) or .weight < 1 or .weight > 10)] | length' audit)" 0
is "ids are unique and name their group" "$(jq '([.checks[].id] | unique | length) == (.checks | length) and all(.checks[]; . as $c | .id | startswith($c.group + "."))' audit)" true
is "tenants: none are configured, and it says so" "$(of tenants.users .state) $(of tenants.users .evidence)" "none none configured: this state belongs to one user"
is "features on trial have a day" "$(jq '(.experiments | length) > 0 and all(.experiments[]; .review | test("^20"))' audit)" true
is "boxes have depth, cost and reach" "$(jq -c '.boxes[] | select(.box == "box") | [.depth > 5, .start_us > 0, .reach]' audit | head -n 1)" '[true,true,"self"]'
is "it is recorded" "$("$CORDON" ledger --kind audit --json | jq -r '.target')" debt
is "and is a metric" "$("$CORDON" ledger export --format prometheus | grep -c '^cordon_audit_debt{group=')" 10

# --- gates that nobody denied for 90 days ---
state stale
mkdir -m 700 "$CORDON_STATE/gate"
for i in $(seq 48); do echo "{\"at\":$i,\"uid\":0,\"read_ms\":90000,\"chars\":100,\"template\":$i,\"yes\":true,\"decoy\":false,\"id\":\"$i\",\"door\":\"net a:$((i % 4)) ask\",\"effect\":\"\",\"reason\":\"\"}"; done >"$CORDON_STATE/gate/decisions"
printf 'use base/system\nrun sh ask within 1s\n' >asks.cordon
run -p asks.cordon -- sh -c true
audit clean.cordon
is "gates: a rate is open when the doctor calls it failing" "$(of gates.unanswered .state) $(of gates.unanswered .evidence) $("$CORDON" ledger health --json | jq -r '.layers[] | select(.layer == "approval").state')" "open unanswered: 1 of 1 failing"
is "gates: those that nobody denied for 90 days" "$(of gates.stale .state) $(of gates.stale .evidence)" "open gates_stale: 4"

# --- a debt in each group ---
state seeded
run -- true
run --wall 'auto without landlock' -- true
run --time 100ms -- sleep 20
run --stdout 'as json' -- echo 'no json'
mkdir "$CORDON_STATE/gate" 2>/dev/null
chmod 770 "$CORDON_STATE/gate"
if [ -x "$CORDON_LIBEXEC/cordon-vault" ]; then printf a-secret-of-the-tests | "$CORDON" vault add free --ttl 30d >/dev/null 2>&1; fi
printf 'box wide\nuse base/system\nrun any\nnet https://pay.test/** POST touches money\n' >wide.cordon
printf 'waive caps.hit until 2020-01-31 owner alice reason it was to end\n' >ended
audit --waivers ended wide.cordon
has "runtimes: a run without a layer" "$(open_of runtimes)" runtimes.weak
has "caps: a limit that was reached" "$(open_of caps)" caps.hit
has "envelope: run any" "$(open_of envelope)" envelope.run-any
has "gates: money without a question" "$(open_of gates)" gates.missing
has "validators: output that was refused" "$(open_of validators)" validators.refused
has "tenants: a directory that a group may write" "$(open_of tenants)" tenants.state
has "self: a waiver that has ended" "$(open_of self)" self.waivers
if [ -x "$CORDON_LIBEXEC/cordon-vault" ]; then has "lifetimes: a credential for no destination" "$(open_of lifetimes)" lifetimes.unbound; else skip "lifetimes" "cordon-vault is not built here"; fi
is "validators: the day of the corpora is that of the page" "$(of validators.corpus .evidence | grep -oE '20[0-9-]+')" "$(grep -oE 'figures are of [0-9-]+' "$CORDON_SOURCE/docs/output.md" | cut -d ' ' -f 4)"
is "the place of a lint is evidence" "$(of gates.missing .evidence | grep -c 'wide.cordon:4')" 1
is "an open check has a debt" "$(jq '[.checks[] | select(.state == "open" and .debt == 0)] | length' audit)" 0
is "the sum is that of the groups, and of the checks" "$(jq '.debt == ([.groups[]] | add) and .debt == ([.checks[].debt] | add)' audit)" true
is "three repairs are named, of open checks" "$(jq '(.repairs | length) == 3 and ([.checks[] | select(.state == "open").id] as $open | all(.repairs[]; . as $r | $open | index($r) != null))' audit)" true
chmod 700 "$CORDON_STATE/gate"

# --- waivers ---
before=$(jq .groups.caps audit)
printf '# accepted\nincidents 9\nwaive caps.hit until 2999-01-31 owner alice reason the batch job is to reach it\n' >waivers
audit --waivers waivers wide.cordon
is "a waiver takes the debt away, not the evidence" "$(of caps.hit '[.state, .debt, .badness > 0] | join(" ")')" "waived 0 true"
ok "its group owes less" test "$(jq .groups.caps audit)" -lt "$before"
is "it is listed with its owner, end and reason" "$(jq -c '.waivers[0] | [.id, .owner, .until, .reason, .ended]' audit)" '["caps.hit","alice","2999-01-31","the batch job is to reach it",false]'
is "the budget of incidents is read" "$(jq .incident_budget audit)" 9
mkdir -p config/cordon && cp waivers config/cordon/waivers
audit wide.cordon
is "the file in the user's configuration is read" "$(of caps.hit .state)" waived
rm config/cordon/waivers
for wrong in 'waive caps.hit until 2999-01-31 reason x' 'waive caps.hit owner a reason x' 'waive caps.hit until 2999-01-31 owner a' 'waive caps.hit until tomorrow owner a reason x' 'forgive all' 'incidents many'; do
        printf '\n%s\n' "$wrong" >waivers
        is "refused: $wrong" "$(status "$CORDON" selftest audit --waivers waivers) $(grep -c 'waivers:2: ' "$T/err")" "125 1"
done

# --- the trend, and ages ---
is "past audits are the trend" "$(jq '.trend | length' audit)" 2
is "the last was today" "$(jq .days_since_last audit)" 0
if command -v python3 >/dev/null; then
        for r in $("$CORDON" ledger --kind audit --json | jq -r .run); do python3 "$here/helpers/ledger_age.py" "$CORDON_STATE/ledger" 100 "$r" >/dev/null; done
        audit wide.cordon
        is "what was open then has been open since" "$(of runtimes.weak .days_open)" 100
        is "its debt is weight x badness x (1 + months / 3) x blast, rounded up" "$(jq '[.blast as $b | .checks[] | select(.state == "open") | .debt == ((.weight * .badness * (90 + .days_open) * $b / 9000) | ceil)] | all' audit)" true
        is "an audit that is overdue is a debt" "$(of self.overdue .state) $(jq .days_since_last audit)" "open 100"
        is "schemas: records that are not what was sealed" "$(of schemas.ledger .state)" open
else
        skip "ages" "python3 is not installed"
fi

# --- status, words ---
is "more than --most gives 1" "$(status "$CORDON" selftest audit --most 0 wide.cordon)" 1
has "as text, with the groups" "$(cat "$T/out")" "REPAIRS THAT SAVE MOST FOR THE LEAST"
has "and what is open" "$(cat "$T/out")" "repair: name the programs: cordon learn"
is "less gives 0" "$(status "$CORDON" selftest audit --most 1000000 wide.cordon)" 0
n=$("$CORDON" ledger --kind audit --json | wc -l)
CORDON_LEDGER=off "$CORDON" selftest audit >/dev/null 2>&1
is "with CORDON_LEDGER=off it is not recorded" "$("$CORDON" ledger --kind audit --json | wc -l)" "$n"
is "a policy that does not exist" "$(status "$CORDON" selftest audit nosuch.cordon)" 125
is "nothing is left behind" "$(find /tmp -maxdepth 1 -name 'cordon-audit.*' -user "$(id -u)" -newer clean.cordon 2>/dev/null | head -n 1)" ""
done_testing
