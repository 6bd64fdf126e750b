#!/bin/sh
# A hundred hosts: their ledgers merged into one order in bounded memory, and a collector of checkpoints that finds each one that was
# rolled back. bench/run m has ten million records.
# shellcheck disable=SC2016,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
cd "$T" || exit 1
source=${CORDON_SOURCE:-$here/../..}
core=${BUILD:-$source/build}/libcordon-core.a
if [ ! -f "$core" ] || ! cc -std=gnu17 -D_GNU_SOURCE -O1 -I"$source/src" -o ledger "$source/bench/ledger.c" "$core" 2>cc.err; then
        skip "ledgers of many hosts" "no $core to make them with"
        done_testing
fi
HOSTS=100
export CORDON_LEDGER=off
seal() { "$CORDON_LIBEXEC/cordon-ledger" seal-once "$1/ledger"; }
# grow RECORDS FROM: each host's ledger gets so many more records, and is sealed; eight at a time
grow() {
        seq 0 $((HOSTS - 1)) | xargs -P 8 -I @HOST@ sh -c 'mkdir -m 700 -p hosts/n@HOST@/ledger && ./ledger hosts/n@HOST@/ledger host "@HOST@/'$HOSTS/$1/$2'" && "$0" seal-once hosts/n@HOST@/ledger' "$CORDON_LIBEXEC/cordon-ledger"
}
mkdir hosts kept
grow 60 0

# --- one order ---
"$CORDON" ledger merge hosts/* >all 2>err
is "a hundred ledgers are merged" "$?:$(wc -l <all)" "0:6000"
has "and counted: every job but one has its cause on another host" "$(cat err)" "6000 records of 100 ledgers; 599 causes in another ledger, 0 in none, 0 in circles"
cat >order.py <<'E'
import json, sys
seen, last, early, back = set(), {}, 0, 0
for line in open(sys.argv[1]):
    o = json.loads(line)
    r = o["record"]
    early += sum(p not in seen for p in r.get("parents", []))
    back += last.get(o["ledger"], 0) >= r["clock"]
    last[o["ledger"]] = r["clock"]
    seen.add(r["id"])
print(len(seen), early, back)
E
is "no record stands before one that it names, and each ledger keeps its order" "$(python3 order.py all)" "6000 0 0"
# shellcheck disable=SC2046
"$CORDON" ledger merge $(find hosts/* -maxdepth 0 | sort -R) >turned 2>/dev/null
ok "whatever the order of the arguments" cmp all turned
"$CORDON" ledger --json --from hosts/n1 --from hosts/n2 | sort >several
"$CORDON" ledger merge hosts/n1 hosts/n2 2>err | sort >merged
ok "the records are those that \`cordon ledger\` gives of several" cmp several merged
has "a cause that no ledger has is counted" "$(cat err)" "6 in none"
ok "and marked" grep -q '"lost_cause":true' merged

# --- a host whose clock is wrong by days ---
cp -a hosts/n3 late && python3 "$here/helpers/ledger_age.py" late/ledger 3 >/dev/null && rm -rf late/ledger/checkpoints late/ledger/tiles late/ledger/head
seal late
"$CORDON" ledger merge hosts/n2 late 2>/dev/null >all
is "a clock that is wrong by days puts no effect before its cause" "$(python3 order.py all | cut -d' ' -f3):$(grep -n '"id":"h3.0-0"' all | cut -d: -f1)" "0:$(($(grep -n '"id":"h2.0-9"' all | cut -d: -f1) + 1))"

# --- causes to and fro, and in a circle: a record of h1 names one of h0 that comes after what it waits for ---
umask 077 && mkdir -p circle/a/ledger circle/b/ledger twisted/a/ledger
./ledger circle/a/ledger host 0/2/20/0 && ./ledger circle/b/ledger host 1/2/20/0
for h in circle/a circle/b; do seal $h; done
"$CORDON" ledger merge circle/a circle/b >out 2>err
has "two hosts that cause each other's jobs in turn are no circle" "$(cat err)" "40 records of 2 ledgers; 3 causes in another ledger, 0 in none, 0 in circles"

# h0 as the first of two: its job 1 waits for job 0 of h1, which waits for job 0 of h0. Written from job 1 on, h0 has job 0 last.
./ledger twisted/a/ledger host 0/2/10/10 && ./ledger twisted/a/ledger host 0/2/10/0 && seal twisted/a
"$CORDON" ledger merge twisted/a circle/b >out 2>err
has "a circle is broken, counted" "$(cat err)" "40 records of 2 ledgers; 2 causes in another ledger, 0 in none, 1 in circles"
is "and marked" "$(grep -c '"in_circle":true' out)" 1

# --- what is wrong with a ledger stops it ---
cp -a hosts/n1 bad && printf X | dd of=bad/ledger/segments/00000001.seg bs=1 seek=700 conv=notrunc status=none
is "a changed ledger is refused" "$("$CORDON" ledger merge hosts/n2 bad 2>&1 >/dev/null | grep -c 'is not what was signed')" 1
has "given twice" "$("$CORDON" ledger merge hosts/n1 hosts/n1 2>&1)" "is given twice"
has "none" "$("$CORDON" ledger merge 2>&1)" "which ledgers?"
is "a full disk is said" "$("$CORDON" ledger merge hosts/n1 2>&1 >/dev/full | grep -c 'cannot be written')" 1
has "no place to sort" "$("$CORDON" ledger merge --temporary /nonexistent hosts/n1 2>&1)" "no temporary file"

# --- the collector ---
is "checkpoints of all hosts are kept" "$("$CORDON" ledger collect --kept kept hosts/* | grep -c ': 60 records, 60 new')" 100
cp -a hosts old
grow 20 60
is "what is new is counted" "$("$CORDON" ledger collect --kept kept hosts/* | grep -c ': 80 records, 20 new')" 100
# Each host in turn is set back to what it was, with its own key and its own seals; all others go on.
found=0
for k in $(seq 0 $((HOSTS - 1))); do
        mv "hosts/n$k" aside && cp -a "old/n$k" "hosts/n$k"
        "$CORDON" ledger collect --kept kept "hosts/n$k" >out 2>err
        [ $? -eq 1 ] && grep -q "^n$k: rolled back: 80 records were sealed, and now 60 are" out && found=$((found + 1))
        rm -rf "hosts/n$k" && mv aside "hosts/n$k"
done
is "all others fit" "$("$CORDON" ledger collect --kept kept hosts/* | grep -c ': 80 records, 0 new')" 100
is "a host that was rolled back is found, each of them" "$found of $HOSTS" "100 of 100"
cp -a old/n5 again && ./ledger again/ledger host 5/100/40/60 && seal again && mv hosts/n5 aside && mv again hosts/n5
has "one that went on from an older state, and is longer now" "$("$CORDON" ledger collect --kept kept hosts/n5 2>/dev/null)" "n5: changed: "
is "it stays found" "$("$CORDON" ledger collect --json --kept kept hosts/n5 2>/dev/null | jq -r .verdict)" changed
rm -rf hosts/n5/ledger && mkdir -m 700 hosts/n5/ledger && ./ledger hosts/n5/ledger host 5/100/200/0 && seal hosts/n5
has "so is one with a new key" "$("$CORDON" ledger collect --kept kept hosts/n5 2>/dev/null)" "n5: changed: "
rm -rf hosts/n5
has "and one that is gone" "$("$CORDON" ledger collect --kept kept hosts/n5 2>/dev/null)" "n5: missing: "
is "each with the name that its merged records have" "$("$CORDON" ledger collect --json --kept kept hosts/n7/ | jq -r '.host + " " + .ledger')" "n7 $(cut -d+ -f1 hosts/n7/ledger/key.pub)"
has "checkpoints are kept in a directory that is there" "$("$CORDON" ledger collect --kept kpet hosts/n6 2>&1)" "mkdir -m 700"
has "no name of a host" "$("$CORDON" ledger collect --kept kept hosts/n6/. 2>&1)" "does not end in the name of a host"
has "no directory of checkpoints" "$("$CORDON" ledger collect hosts/n6 2>&1)" "where are their checkpoints kept"
done_testing
