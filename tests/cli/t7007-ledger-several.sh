# Two hosts (two state directories): a pipe, an --in-from, a trace context and a copied file between boxes of both. Their ledgers are read
# as one, in an order in which no effect stands before its cause; each proves its own records. A stranger's ledger does nothing to who
# reads it.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
A=$T/host-a B=$T/host-b
on_a() { CORDON_STATE=$A CORDON_LEDGER=off "$CORDON" "$@"; }
on_b() { CORDON_STATE=$B CORDON_LEDGER=off "$CORDON" "$@"; }
run_a() { name=$1 && shift && CORDON_STATE=$A "$CORDON" run -q --name "$name" "$@"; }
run_b() { name=$1 && shift && CORDON_STATE=$B "$CORDON" run -q --name "$name" "$@"; }
both() { CORDON_LEDGER=off "$CORDON" "$@" --from "$A" --from "$B" 2>&1; }
turned() { CORDON_LEDGER=off "$CORDON" "$@" --from "$B" --from "$A" 2>&1; }
id_in() { CORDON_STATE=$1 CORDON_LEDGER=off "$CORDON" ledger --json --box "$2" | jq -r --arg d "$3" 'select((.door // .kind) == $d or .kind == $d) | .id' | tail -n 1; }
sealed() { for _ in $(seq 40); do CORDON_STATE=$1 CORDON_LEDGER=off "$CORDON" ledger verify | grep -q -E '^([0-9]+) records, \1 of them' && return; sleep 0.25; done; }
sha() { (cd "$1" && find . -type f ! -name sealer | sort | xargs sha256sum | sha256sum); }

for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do run_b busy -- true </dev/null; done # its clock is far ahead
run_a left -- echo one | run_b right -- tr a-z A-Z >/dev/null
run_b far -- echo two </dev/null >/dev/null
far=$(id_in "$B" far end)
far_clock=$(CORDON_STATE=$B CORDON_LEDGER=off "$CORDON" ledger --json | jq -r "select(.id == \"$far\") | .clock")
run_a given --in-from "$far" -- true </dev/null
run_a clocked --in-from "$far@$far_clock" -- true </dev/null
context=$(CORDON_STATE=$B CORDON_LEDGER=off "$CORDON" ledger --json --box far --kind start | jq -r .trace.out)
TRACEPARENT=$context run_a traced -- true </dev/null
run_b wrote -- echo carried over >"$T/b-file" </dev/null
cp "$T/b-file" "$T/a-file"
run_a took -- cat <"$T/a-file" >/dev/null
run_a lost --in-from 1-2-3 -- true </dev/null
sealed "$A"
sealed "$B"
name_a=$(CORDON_STATE=$A "$CORDON" ledger keys | cut -d+ -f1)
name_b=$(CORDON_STATE=$B "$CORDON" ledger keys | cut -d+ -f1)
before_a=$(sha "$A") before_b=$(sha "$B")

# One command from the effect in one to the cause in the other.
causes() { both ledger trace "$(id_in "$@")" --back --json | jq -r '.[1:][] | .ledger + " " + (.record.box // .record.kind) + ":" + (.record.door // .record.kind) + " " + .link' | sed "s,$name_a,A,; s,$name_b,B," | sort | tr '\n' ';'; }
is "a pipe from a box of A to a box of B" "$(causes "$B" right stdout)" "A left:start parent;A left:stdout pipe;B right:start parent;B right:stdin parent;"
is "--in-from a run of B" "$(causes "$A" given end)" "A given:start parent;B far:end parent;B far:start parent;"
is "a trace context from B" "$(causes "$A" traced end)" "A traced:start parent;B far:start trace;"
is "a file that was copied from B to A, by its content" "$(causes "$A" took stdout)" "A took:start parent;A took:stdin parent;B wrote:start parent;B wrote:stdout bytes;"
has "and forward: from the cause in B to the effect in A" "$(both ledger trace "$far" --forward)" "$name_a  $(id_in "$A" given start)"
has "people are told which ledger" "$(both ledger trace "$(id_in "$B" right stdout)" --back)" "$name_a  $(id_in "$A" left stdout)"
has "a cause that no ledger holds is said" "$(both ledger trace "$(id_in "$A" lost end)")" "1-2-3.end: its cause is not in these ledgers"
has "in the list too" "$(both ledger --box lost --kind start)" "[its cause is not in these ledgers]"
is "and in JSON" "$(both ledger --box lost --kind start --json | jq -r '.lost_cause')" true
has "alone, too" "$(CORDON_LEDGER=off CORDON_STATE=$A "$CORDON" ledger trace "$(id_in "$A" lost end)")" "1-2-3.end: its cause is not in this ledger"

# Lamport: what came with its clock passes that clock.
is "a run that is given the cause's clock passes it" "$(CORDON_STATE=$A CORDON_LEDGER=off "$CORDON" ledger --json --box clocked --kind start | jq "[.clock > $far_clock, (.parents | index(\"$far\")) != null] | all")" true
has "and its ledger verifies" "$(CORDON_STATE=$A CORDON_LEDGER=off "$CORDON" ledger verify)" "nothing that is sealed was changed"
for bad in "$far@" "$far@x" "$far@-1" "$far@9007199254740993" "$far@1@2"; do
        has "no clock: ${bad#"$far"}" "$(run_a bad --in-from "$bad" -- true 2>&1)" "--in-from takes a run id"
done

# One order, whatever the order of the arguments.
both ledger --json >order
turned ledger --json >turned
ok "the order does not depend on that of the arguments" cmp order turned
is "every record is there once" "$(jq -r '.ledger + .record.id' order | sort | uniq -d | wc -l) $(wc -l <order)" "0 $(($(on_a ledger --json | wc -l) + $(on_b ledger --json | wc -l)))"
is "no record stands before one that it names" "$(jq -rs 'map(.record.id) as $ids | ($ids | to_entries | map({(.value): .key}) | add) as $at | [.[].record | .id as $i | .parents // [] | .[] | select($at[.] != null and $at[.] >= $at[$i])] | length' order)" 0
# But for standard input: what follows names it before it is known whole and recorded.
own_order() { jq -r "select(.ledger == \"$1\" and .record.door != \"stdin\") | .record.clock" order | sort -n -c 2>&1; }
is "each ledger's own order stays" "$(own_order "$name_a"; own_order "$name_b")" ""
has "filters go on working" "$(both ledger --box right --kind output)" "$name_b  $(id_in "$B" right stdout)"
is "the newest" "$(both ledger --box busy --kind end -n 2 | wc -l)" 2

# The other questions.
has "show finds a run of either" "$(both ledger show far)" "ledger   $name_b"
is "show --json" "$(both ledger show left --json | jq -r .ledger | sort -u)" "$name_a"
has "field" "$(both ledger target echo)" "$name_b"
has "field of the other" "$(both ledger target echo)" "$name_a"
is "field --json" "$(both ledger target echo --json | jq -r .ledger | sort -u | wc -l)" 2
has "reached" "$(both ledger reach)" "beyond this host"
has "report: a page with boxes of both" "$(both ledger report right --html -)" "in $name_a"
hasnt "and none of others" "$(both ledger report right --html -)" "$(id_in "$A" given start)"
is "the page is the same, turned" "$(both ledger report right --html - | sha256sum)" "$(turned ledger report right --html - | sha256sum)"
has "report: a postmortem with the cause of another host" "$(both ledger report right --postmortem - | tail -n 40)" "## Questions for people"
has "and its ledger" "$(both ledger report right --postmortem -)" "- Ledger \`$name_b\`"
run_b blocked --use base/strict -- python3 -c "import socket, sys; sys.stdin.read(); socket.socket()" <"$T/b-file" >/dev/null 2>&1
run_a source -- echo from a </dev/null | run_b victim --use base/strict -- python3 -c "import socket, sys; sys.stdin.read(); socket.socket()" >/dev/null 2>&1
both ledger report victim --postmortem pm.md
has "the cause of a refusal in B is what A put out" "$(sed -n '/^## Causes/,/^## Doors/p' pm.md)" "$(id_in "$A" source stdout)"
has "neither option" "$(both ledger report right)" "For example"
sealed "$A"
sealed "$B"
both ledger --json >order
before_a=$(sha "$A") before_b=$(sha "$B")
for question in "proof $far" export "prune --older 1d" checkpoint keys rotate-key restart; do
        # shellcheck disable=SC2086
        has "of one ledger alone: $question" "$(both ledger $question)" "has no option --from"
done
has "follow" "$(both ledger -f)" "--follow works only with your own ledger"
has "twice the same" "$(both ledger --from "$A")" "is given twice"
has "not there" "$(both ledger --from "$T/nowhere")" "nowhere cannot be read"
has "no ledger there" "$(both ledger --from "$T")" "has no ledger"
is "a ledger's own directory does as well" "$(CORDON_LEDGER=off "$CORDON" ledger --json --from "$A/ledger" --from "$B" | sha256sum)" "$(sha256sum <order)"
is "reading changed nothing" "$(sha "$A") $(sha "$B")" "$before_a $before_b"

# Proofs are of each ledger, with its own key.
for host in "$A" "$B"; do
        one=$(CORDON_STATE=$host CORDON_LEDGER=off "$CORDON" ledger --json --kind end | jq -r .id | head -n 1)
        CORDON_STATE=$host "$CORDON" ledger proof "$one" >proof && CORDON_STATE=$host "$CORDON" ledger keys >keys
        has "${host##*/}: a proof of its own record" "$("$CORDON" ledger verify --proof proof --key keys)" proved
done
CORDON_STATE=$A "$CORDON" ledger keys >keys
has "and not with the other's key" "$("$CORDON" ledger verify --proof proof --key keys)" "NOT PROVED"
CORDON_LEDGER=on "$CORDON" ledger --from "$A" --from "$B" --run 1-2 >/dev/null
is "who looked is in one's own ledger" "$(CORDON_LEDGER=off "$CORDON" ledger --json --kind view | jq -r .door | head -n 1)" log

# ---- a stranger's ledger ----
limited() { CORDON_LEDGER=off prlimit --as=4000000000 timeout 60 "$CORDON" "$@" 2>&1; }
bad() { rm -rf "$T/bad" && cp -a "$B" "$T/bad"; }
seg=ledger/segments/00000001.seg
bad && printf X | dd of="bad/$seg" bs=1 seek=700 conv=notrunc status=none
has "one that was changed is refused" "$(limited ledger --from "$A" --from bad)" "is not what was signed"
bad && rm bad/ledger/checkpoints
has "one that nothing vouches for" "$(limited ledger --from "$A" --from bad)" "nothing vouches for it"
bad && rm bad/ledger/key.pub
has "one without a key" "$(limited ledger --from "$A" --from bad)" "key.pub is missing"
for file in "$seg" ledger/checkpoints ledger/key.pub ledger/head ledger/tiles/0; do
        bad && rm "bad/$file" && mkfifo "bad/$file"
        limited ledger --from "$A" --from bad >got
        is "a pipe for ${file##*/} holds nobody up" "$([ $? -ne 124 ] && echo ended)" ended
        bad && rm "bad/$file" && ln -s /dev/zero "bad/$file"
        limited ledger --from "$A" --from bad >got
        is "nor a link to /dev/zero for ${file##*/}" "$([ $? -ne 124 ] && echo ended)" ended
done
bad && cp "bad/$seg" bad/ledger/segments/99999999.seg
has "a segment with a number out of this world" "$(limited ledger --from "$A" --from bad)" "is not what was signed"
bad && truncate -s 2G bad/ledger/checkpoints && cat "$B/ledger/checkpoints" >>bad/ledger/checkpoints
limited ledger --from "$A" --from bad >got
is "a file of checkpoints without end" "$([ $? -ne 124 ] && tail -n 2 got | grep -c "cannot be read: File too large")" 1
bad && truncate -s 20G "bad/$seg"
limited ledger --from "$A" --from bad >got
is "a segment without end" "$([ $? -ne 124 ] && echo ended)" ended

# Signed by his own key, with words that are weapons; the name of his ledger is A's.
mkdir -m 700 evil && CORDON_STATE=$T/evil "$CORDON" run -q --no-stdin --name evil -- true
sealed "$T/evil"
esc=$(printf '\033]0;owned\007\033[2J<script>alert(1)</script>')
CORDON_STATE=$T/evil "$CORDON" run -q --no-stdin --in-from "$(id_in "$A" left start)" --name evil2 --time 5s -- "$esc" 2>/dev/null
CORDON_STATE=$T/evil "$CORDON" run -q --no-stdin --name evil3 -- python3 -c "import os; os.open('/$esc', os.O_RDONLY)" 2>/dev/null
CORDON_STATE=$T/evil "$CORDON" ledger note --from "$esc" "$(id_in "$T/evil" evil end)" "$esc" >/dev/null
sealed "$T/evil"
for verb in log "log --json" "log show evil2" "ledger target *" "ledger reach" "trace $(id_in "$A" left start)" "report evil2 --html -" "report evil2 --postmortem -"; do
        # shellcheck disable=SC2086
        (set -f; limited $verb --from "$A" --from evil) >got
        is "no control leaves: $verb" "$(LC_ALL=C tr -d '\n\040-\176' <got | wc -c) $([ -s got ] && echo said)" "0 said"
        hasnt "no tag: $verb" "$(case $verb in *html*) cat got ;; esac)" "<script>"
done
has "his words are there, though" "$(limited ledger --from "$A" --from evil)" 'owned'
has "he is named" "$(limited ledger --from "$A" --from evil --box evil)" "$(CORDON_STATE=$T/evil "$CORDON" ledger keys | cut -d+ -f1)"
# Who takes another's name is told apart by his key.
rm -rf forged && mkdir -m 700 forged && CORDON_STATE=$T/forged "$CORDON" run -q --no-stdin --name forger -- true && sealed "$T/forged"
soon "$T/libexec/cordon-ledger" seal-once "$T/forged/ledger" # when his sealer, which has the old name, is gone
if python3 - "$T/forged/ledger" "$name_a" <<'PY'; then
import base64, hashlib, os, sys
# The key file again, with another name: the seed stays, its hash changes.
d, name = sys.argv[1:]
parts = open(d + '/key').read().strip().split('+', 4)
pub = base64.b64decode(open(d + '/key.pub').read().strip().split('+', 2)[2])
h = hashlib.sha256(name.encode() + b'\n' + pub).hexdigest()[:8]
open(d + '/key', 'w').write('PRIVATE+KEY+%s+%s+%s\n' % (name, h, parts[4]))
open(d + '/key.pub', 'w').write('%s+%s+%s\n' % (name, h, base64.b64encode(pub).decode()))
for f in ('checkpoints', 'tiles/0'): os.unlink(d + '/' + f)
PY
        rm -rf forged/witness
        CORDON_STATE=$T/forged "$CORDON" run -q --no-stdin --name forger -- true && sealed "$T/forged"
        is "a borrowed name" "$(limited ledger --json --from "$A" --from forged | jq -r .ledger | sort -u | sed "s,^$name_a+[0-9a-f]\{8\}$,NAME+KEY,")" "NAME+KEY
NAME+KEY"
fi
done_testing
