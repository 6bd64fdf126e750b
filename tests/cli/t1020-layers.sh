#!/bin/sh
# cordon ledger health: 24 seeded faults, three of each layer; each in a state of its own, which also has three runs without
# a fault. The layer that is named first must be the right one.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || { skip "the layer that fails" "jq is not installed"; done_testing; }
elsewhere cordon-layers
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
echo text >"$D/file"
HOME=$T XDG_CONFIG_HOME=$T/config
export HOME XDG_CONFIG_HOME
mkdir -m 755 "$T/work" && cd "$T/work" && echo one >in.txt && echo two >other.txt || exit 1
run() { "$CORDON" run -q "$@" >/dev/null 2>&1 </dev/null; }
RIGHT=0 SEEN=0
# fault LAYER WHAT: a new state with three ordinary runs; then `seed` adds the fault
fault() {
        CORDON_STATE=$T/s.$SEEN
        export CORDON_STATE
        mkdir -m 700 "$CORDON_STATE"
        for _ in 1 2 3; do run -- true; done
        seed
        SEEN=$((SEEN + 1))
        "$CORDON" ledger health --json >"$T/layers" 2>"$T/err"
        got=$(jq -r .first "$T/layers")
        if [ "$got" = "$1" ]; then
                RIGHT=$((RIGHT + 1))
                pass "$1: $2"
        else
                fail "$1: $2" "named: $got" "$(jq -c '.layers[0]' "$T/layers")" "$(cat "$T/err")"
        fi
        [ "$(jq -r '.layers[0] | .next != "" and .threshold > 0 and .value >= .threshold' "$T/layers")" = true ] || fail "$1: $2: with a command, a value and a threshold"
}
vault() { printf 'a-secret-of-the-tests' | "$CORDON" vault "$@" >/dev/null 2>&1; }
decisions() { mkdir -p "$CORDON_STATE/gate" && chmod 700 "$CORDON_STATE/gate" && (umask 077 && cat >"$CORDON_STATE/gate/decisions"); }

CORDON_STATE=$T/well && mkdir -m 700 "$T/well" && export CORDON_STATE
for _ in 1 2 3; do run -- true; done
"$CORDON" ledger health --json >"$T/layers"
is "without a fault no layer is broken or failing" "$? $(jq -c '[.layers[] | select(.state == "broken" or .state == "failing")]' "$T/layers")" "0 []"
is "there are eight layers" "$(jq -r '[.layers[].layer] | sort | join(" ")' "$T/layers")" "approval credentials isolation observability output policy resource tenant"
is "a new state has none either" "$(CORDON_STATE=$T/new "$CORDON" ledger health --json | jq -r '[.layers[].state] | unique | join(" ")')" well

seed() { run --trip calls -- mount -t proc a /mnt; }
fault isolation "a tripwire"
seed() { run --wall 'auto without landlock' -- true; }
fault isolation "a run without a layer"
seed() { run --wall process -- true; }
fault isolation "a run behind the weaker wall"

seed() { run --time 100ms -- sleep 20; }
fault resource "a run that ended at its time"
seed() { run --output 1K -- head -c 100000 /dev/zero; }
fault resource "a run that printed too much"
seed() { run --disk 1M -- dd if=/dev/zero of=/tmp/x bs=64k count=64; run --cpu 100ms -- sh -c 'while :; do :; done'; }
fault resource "runs that took too much"

seed() { run -- sh -c 'exec 3<>/dev/tcp/none' ; run -- mount -t proc a /mnt; }
fault policy "a call that no door permits, in a run that failed"
if [ -w /dev/fuse ]; then
        seed() { "$CORDON" run -- cat "$D/file" >/dev/null 2>&1 </dev/null; }
        fault policy "a file that no door opens"
        seed() { for _ in 1 2 3; do run --observe all --read "$T/work/in.txt" --read "$T/work/other.txt" -- true; done; }
        fault policy "doors that nobody uses"
else
        skip "policy: two faults" "hidden paths are not reported: /dev/fuse is not for us"
fi

if [ -x "$CORDON_LIBEXEC/cordon-vault" ]; then
        seed() { vault add free --ttl 30d; }
        fault credentials "a credential for no destination"
        seed() { vault add old --ttl 30d --for 'https://api.test/** GET'; sed -i '1s/"expires":[0-9]*/"expires":5/' "$CORDON_STATE/vault/c.old"; }
        fault credentials "an expired credential"
        seed() { vault add grows --ttl 1h --for 'https://api.test/** GET'; for ttl in 2h 3h 4h; do vault rotate grows --ttl $ttl; done; }
        fault credentials "a lifetime that grew"
else
        skip "credentials: three faults" "cordon-vault is not built here"
fi

seed() { printf 'use base/system\nrun sh ask within 1s\n' >"$T/asks"; run -p "$T/asks" -- sh -c true; }
fault approval "a question that nobody answered"
seed() { i=0; while [ $i -lt 50 ]; do printf '{"at":%s000,"uid":%s,"read_ms":10,"chars":900,"template":%s,"yes":true,"id":"%064d","door":"net x","effect":"POST x"}\n' "$(date +%s)" "$(id -u)" $i $i; i=$((i + 1)); done | decisions; }
fault approval "a person who does not read"
seed() { printf '{"at":%s000,"uid":%s,"read_ms":90000,"chars":90,"template":1,"yes":true,"id":"%064d","door":"net x","effect":"POST x"}\n' "$(date +%s)" "$(id -u)" 7 | decisions; "$CORDON" approve incident "$(printf %064d 7)" "it paid twice" >/dev/null 2>&1; }
fault approval "an approved effect that did harm"

seed() { run --stdout 'as json' -- echo 'no json'; }
fault output "output that is not what the policy says"
seed() { run --stdout 'as text' -- printf 'a\033[31mb'; }
fault output "escape sequences"
seed() { run --stdout 'as text' -- echo AKIAIOSFODNN7EXAMPLE; }
fault output "a secret in output"

seed() { chmod 755 "$CORDON_STATE"; }
fault tenant "a state that others may enter"
seed() { soon test -e "$CORDON_STATE/ledger/key"; chmod 644 "$CORDON_STATE/ledger/key"; }
fault tenant "a key that others may read"
seed() { mkdir -p "$CORDON_STATE/gate"; chmod 770 "$CORDON_STATE/gate"; }
fault tenant "decisions that a group may write"

seed() {
        "$CORDON" run -q --name killed -- sleep 60 >/dev/null 2>&1 </dev/null &
        keeper=$!
        soon sh -c '"$CORDON" ledger --box killed --kind start --json | grep -q start'
        kill -9 $keeper
        wait $keeper 2>/dev/null
}
fault observability "a keeper that was killed"
seed() { "$CORDON" ledger checkpoint >/dev/null 2>&1 || soon "$CORDON" ledger checkpoint; printf X | dd of="$CORDON_STATE/ledger/segments/00000001.seg" bs=1 seek=100 conv=notrunc 2>/dev/null; }
fault observability "a record that was changed"
seed() { soon test -s "$CORDON_STATE/ledger/checkpoints"; : >"$CORDON_STATE/ledger/head"; mv "$CORDON_STATE/ledger/segments/00000001.seg" "$CORDON_STATE/gone"; }
fault observability "records that are gone"

ok "the right layer first in all but two ($RIGHT of $SEEN)" test "$RIGHT" -ge $((SEEN - 2))

# --- words ---
CORDON_STATE=$T/s.0 status "$CORDON" ledger health >/dev/null
has "as text, the layer stands first" "$(head -n 1 "$T/out")" "start with: isolation"
is "a layer that fails gives 1" "$(CORDON_STATE=$T/s.0 status "$CORDON" ledger health)" 1
is "--layers is not of a policy" "$(status "$CORDON" ledger health base/system)" 125
is "runs before --since do not count" "$(CORDON_STATE=$T/s.0 "$CORDON" ledger health --since 2999-01-01 --json | jq -r '.facts.runs')" 0
done_testing
