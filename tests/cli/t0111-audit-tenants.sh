#!/bin/sh
# cordon selftest audit reads the tenants of `cordon serve`: tokens, policies, versions on trial, credentials, identities, ledgers; and the age of records' fields.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
command -v jq >/dev/null || { skip "the audit of tenants" "jq is not installed"; done_testing; }
XDG_CONFIG_HOME=$T/config
export XDG_CONFIG_HOME
cd "$T" || exit 1
mkdir -m 700 config "$CORDON_STATE" 2>/dev/null
dir=$T/config/cordon/serve
audit() { "$CORDON" selftest audit --json >"$T/audit" 2>"$T/err" </dev/null; }
of() { jq -r ".checks[] | select(.id == \"tenants.$1\" or .id == \"$1\") | \"\(.state) \(.evidence)\"" "$T/audit"; }
open_now() { jq -r '[.checks[] | select(.group == "tenants" and .state == "open" and .id != "tenants.users").id] | join(" ")' "$T/audit"; }
for t in acme beta gone; do
        "$CORDON" serve tenant new "$t" 2>/dev/null
        echo 'use base/system' >"$dir/tenants/$t/ceiling.cordon"
done
"$CORDON" serve token new --tenant acme >/dev/null 2>&1

# --- nothing is wrong ---
audit
is "tenants as they were made owe nothing" "$(open_now)" ""
has "they are counted" "$(of users)" "3 tenants"
is "what keeps them apart is tried" "$(jq -r '[.checks[] | select(.group == "tenants" and .live and .state == "held").id] | length' audit)" "$(jq -r '[.checks[] | select(.group == "tenants" and .live).id] | length' audit)"
is "a removed ledger was tried" "$(of removed)" "held tried: a tenant's ledger that was removed is found"
has "the fields of records have a day" "$(of schemas.age)" "held the fields of records are those of 20"

# --- one debt of each kind ---
now=$(date +%s)
line() { jq -n -c --arg id "$1" --argjson created "$2" --argjson expires "$3" '{id:$id,tenant:"acme",scopes:["run"],created:$created,expires:$expires,sha256:("0" * 64)}'; }
{ line 0000000000000001 $((now - 100 * 86400)) $((now + 86400)); line 0000000000000002 "$now" $((now + 4000 * 86400)); line 0000000000000003 $((now - 900 * 86400)) $((now - 86400)); } >>"$dir/tokens"
rm "$dir/tenants/beta/policies/"*.cordon "$dir/tenants/beta/ceiling.cordon"
cp "$dir/tenants/acme/identity" "$dir/tenants/beta/identity"
mkdir -p "$dir/tenants/acme/versions/default"
echo '{"version":2,"share":10,"bound":1}' >"$dir/tenants/acme/versions/default/canary.json"
touch -d '20 days ago' "$dir/tenants/acme/versions/default/canary.json"
env CORDON_STATE="$dir/tenants/acme/state" "$CORDON" run -q -- true </dev/null
audit
has "a token that is old" "$(of tokens-old)" "open tokens_old: 1, of 3 tenants; 0000000000000001 of acme is 100 days old"
has "one that does not end" "$(of tokens-endless)" "open tokens_endless: 1, of 3 tenants; 0000000000000002"
has "no policy" "$(of policies)" "beta has no policy"
has "no ceiling" "$(of ceiling)" "open no_ceiling: 1"
has "the identity of another" "$(of not-as-made)" "has the identity of another tenant"
has "a version on trial" "$(of canaries)" "default of acme has been on trial for 20 days"
is "a ledger of which the host has no head" "$(of unheaded)" "open 1 tenants have a ledger, and this one has no head of 1: acme"
is "each has a debt and a repair" "$(jq '[.checks[] | select(.group == "tenants" and .state == "open" and (.debt == 0 or .remedy == ""))] | length' audit)" 0

# --- credentials ---
if [ -x "$CORDON_LIBEXEC/cordon-vault" ]; then
        printf a-secret-of-the-tests | env CORDON_STATE="$dir/tenants/acme/state" "$CORDON" vault add free --ttl 30d >/dev/null 2>&1
        audit
        has "a credential for no destination" "$(of vault-debts)" "open vault_debts: 1"
        has "one that is new is not unused" "$(of vault-unused)" "held vault_unused: 0"
else
        skip "credentials" "cordon-vault is not built here"
fi

# --- tenants that cannot be read ---
chmod 750 "$dir/tenants/gone"
audit
has "a directory that others may enter" "$(of not-as-made)" "open not_as_made: 2"
chmod 700 "$dir/tenants/gone"
echo 'no token' >>"$dir/tokens"
audit
is "a directory that does not load is not judged" "$(of tokens-old)" "unknown the directory of \`cordon serve\` cannot be read"

# --- fields of a later version ---
if command -v python3 >/dev/null; then
        sed -i '$d' "$dir/tokens"
        "$CORDON" run -q -- true </dev/null
        run=$("$CORDON" ledger --kind start --json | jq -r .run | tail -n 1)
        python3 "$here/helpers/ledger_age.py" "$CORDON_STATE/ledger" field "$run" >/dev/null
        audit
        has "records with fields that are not known" "$(of schemas.age)" " records have fields that this program does not know, for 0 days"
else
        skip "fields of a later version" "python3 is not installed"
fi
done_testing
