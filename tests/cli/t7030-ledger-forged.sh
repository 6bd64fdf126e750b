#!/bin/sh
# A process that may write every file of the ledger but does not have its key: each file of the directory by each kind of
# change, and forgeries that need several. Each is found, or the records and what is sealed of them are as they were.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
L=$CORDON_STATE/ledger
forge() { python3 "$CORDON_SOURCE/tests/cli/helpers/forge_ledger.py" "$L" "$@"; }
second="$CORDON_SOURCE/tests/cli/helpers/verify_ledger.py"
sealer=$T/libexec/cordon-ledger
if [ ! -x "$sealer" ] || ! openssl genpkey -algorithm ed25519 -out "$T/try.pem" 2>/dev/null; then
        skip "forged ledgers" "cordon-ledger or openssl is missing"
        done_testing
fi
# Boxes run without a sealer beside them, which is called when the test wants it. Looks leave no record.
mkdir bare && for p in "$T"/libexec/*; do [ "${p##*/}" = cordon-ledger ] || cp "$p" bare/; done
run() { CORDON_LIBEXEC=$T/bare "$CORDON" run -q "$@" </dev/null >/dev/null 2>&1; }
seal() { "$sealer" seal-once "$L"; }
export CORDON_LEDGER=off
records() { "$CORDON" ledger --json 2>&1; }
run_on() { CORDON_LEDGER=on run "$@"; }

# ---- a ledger with all that one may have: a rotation, pruned records, several segments; and another ----
for i in 1 2 3 4 5; do run_on --name "box$i" -- echo "line $i"; done
seal
cp "$L/key" stolen
is "a rotation leaves two keys" "$(CORDON_LEDGER=on "$CORDON" ledger rotate-key | wc -l)" 2
run_on --name box6 -- true
seal
cp -a "$CORDON_STATE" unpruned
second_of=$(date +%s) && next() { [ "$(date +%s)" -gt $((second_of + 1)) ]; } && soon next # it counts in whole seconds
is "their outputs are pruned" "$(CORDON_LEDGER=on "$CORDON" ledger prune --older 0ms --kind output 2>&1)" "5 payloads removed; their hashes stay"
run_on --name box7 -- true
soon seal
cp -a "$CORDON_STATE" whole
mkdir -m 700 "$T/other"
for i in 1 2 3 4 5 6 7 8; do CORDON_LEDGER=on CORDON_STATE=$T/other run --name "other$i" -- true; done
"$sealer" seal-once "$T/other/ledger"
"$CORDON" ledger checkpoint >kept.txt
ok "the ledger verifies" "$CORDON" ledger verify --checkpoint kept.txt
is "the second verifier agrees" "$(python3 "$second" "$L" | cut -d ' ' -f 1)" ok
before=$(records) sealed=$("$CORDON" ledger verify --json | jq .sealed)
back() { rm -rf "$CORDON_STATE" && cp -a whole "$CORDON_STATE"; }

# ---- the table: a change of one file ----
# harmless: the same records, and as many of them sealed
harmless() { [ "$("$CORDON" ledger verify --json | jq .sealed)" = "$sealed" ] && [ "$(records)" = "$before" ]; }
# found_or_harmless FILE CHANGE
found_or_harmless() {
        if [ "$("$CORDON" ledger verify >out 2>&1; echo $?)" = 1 ]; then echo found; elif harmless; then echo harmless; else echo MISSED; fi
}
found='' harmless='' missed='' later=''
for file in $(cd "$L" && find . -type f | sed 's|^\./||' | sort) key.next segments/00000009.seg ../witness/checkpoint; do
        for change in append replace cut remove reorder swap; do
                case $change in
                swap) [ -e "$T/other/ledger/$file" ] && forge swap "$file" "$T/other/ledger" || continue ;;
                append) [ -e "$L/$file" ] || : >"$L/$file"; forge append "$file" ;;
                *) [ -s "$L/$file" ] && forge "$change" "$file" || continue ;;
                esac
                case $(found_or_harmless) in
                found) found="$found $file:$change" ;;
                harmless)
                        harmless="$harmless $file:$change"
                        # The next writer and the next sealer find it so, and what was sealed stays.
                        run_on --name after -- true
                        seal 2>/dev/null
                        case $("$CORDON" ledger verify >/dev/null 2>&1; echo $?):$(records | head -n "$(echo "$before" | wc -l)") in
                        1:* | 0:"$before") ;;
                        *) later="$later $file:$change" ;;
                        esac
                        ;;
                *) missed="$missed $file:$change" ;;
                esac
                back
        done
done
is "each change of one file is found, or changes nothing" "$missed" ""
is "nor does it for the next writer and sealer" "$later" ""
for row in segments/00000001.seg:replace segments/00000001.seg:cut segments/00000001.seg:remove segments/00000001.seg:reorder segments/00000001.seg:swap \
        checkpoints:replace checkpoints:cut checkpoints:remove checkpoints:append checkpoints:swap key.pub:append key.pub:replace \
        key.pub:remove key.pub:reorder key.pub:swap ../witness/checkpoint:replace ../witness/checkpoint:swap segments/00000009.seg:append; do
        case "$found " in *" $row "*) ;; *) missed="$missed $row" ;; esac
done
is "what makes a record another, or a key, is found at once" "$missed" ""

# ---- forgeries of several files ----
for what in second-key second-key-behind second-key-beside "retired-key stolen" "other-rotation stolen" foreign-rotation \
        "replayed-rotation stolen" no-seals no-checkpoints \
        hide-excused "hide-instead $T/unpruned/ledger" "hide exited"; do
        # shellcheck disable=SC2086
        forge $what
        is "$what: found" "$("$CORDON" ledger verify >out 2>&1; echo $?) $(grep -c '^ALTERED' out | sed 's/^[1-9].*/some/')" "1 some"
        case $what in no-*) ;; *) is "$what: and by the second verifier" "$(python3 "$second" "$L" >/dev/null 2>&1; echo $?)" 1 ;; esac
        is "$what: is not read with others" "$("$CORDON" ledger --from "$CORDON_STATE" --from "$T/other" >/dev/null 2>&1; echo $?)" 125
        back
done
forge key-record fresh.pem
seal
ok "a record that names a key is a record" "$CORDON" ledger verify
forge key-recorded fresh.pem
is "and makes no key, although the ledger's key signed it" "$("$CORDON" ledger verify >out 2>&1; echo $?)" 1
has "the key is named" "$(cat out)" "no key before it signed a rotation to it"
back
forge append segments/00000003.seg 2>/dev/null || forge append "segments/$(ls "$L/segments" | tail -n 1)"
is "bytes behind the end are no record" "$("$CORDON" ledger verify --json | jq -c '[.ok, .sealed == .records]')" "[true,true]"
back
python3 - "$CORDON_SOURCE/tests/cli/helpers" "$L" <<'PY'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import forge_ledger
forge_ledger.put_record(sys.argv[2])
PY
is "a record behind the end is told to be unsealed" "$("$CORDON" ledger verify --json | jq -c '[.ok, .records - .sealed]')" "[true,1]"
has "also in words" "$("$CORDON" ledger verify)" "1 record is not sealed yet"
back
forge other-ledger
ok "a whole ledger under another key is consistent" "$CORDON" ledger verify
is "and does not fit a checkpoint that was kept" "$("$CORDON" ledger verify --checkpoint kept.txt >/dev/null; echo $?)" 1
mkdir -p nodes kept && cp -a whole/ledger nodes/node1
"$CORDON" ledger collect --kept kept nodes/node1 >/dev/null
rm -rf nodes/node1 && cp -a "$L" nodes/node1
is "nor what was collected of it" "$("$CORDON" ledger collect --kept kept nodes/node1 >out 2>&1; echo $?)" 1
back

# ---- proofs and keys ----
forge proof forged.txt
has "a proof by a key that was added to key.pub proves nothing" "$("$CORDON" ledger verify --proof forged.txt 2>&1)" "NOT PROVED"
is "and that key is not given out" "$("$CORDON" ledger keys 2>/dev/null; echo $?)" 125
back
"$CORDON" ledger proof "$(records | jq -r .id | head -n 1)" >honest.txt
has "an honest one holds by the ledger's own keys" "$("$CORDON" ledger verify --proof honest.txt)" "proved: record"
forge plant-next
run_on --name box8 -- true
seal
is "a key that somebody put beside is dropped" "$(test -e "$L/key.next"; echo $?) $("$CORDON" ledger keys | wc -l)" "1 2"
ok "and the ledger verifies" "$CORDON" ledger verify --checkpoint kept.txt
back

# ---- a rotation that is killed ----
if strace -f -o /dev/null true 2>/dev/null; then
        broken='' n=1
        while [ $n -le 12 ]; do
                strace -qq -f -o /dev/null -e trace=renameat,renameat2,fsync,fdatasync -e inject=renameat,renameat2,fsync,fdatasync:signal=KILL:when=$n \
                        "$sealer" rotate "$L" >/dev/null 2>&1
                run_on --name later -- true
                seal || broken="$broken seal:$n"
                "$CORDON" ledger verify --checkpoint kept.txt >out 2>&1 || broken="$broken verify:$n"
                python3 "$second" "$L" >/dev/null || broken="$broken second:$n"
                [ ! -e "$L/key.next" ] || broken="$broken next:$n"
                back
                n=$((n + 1))
        done
        is "a rotation that is killed anywhere leaves a ledger that verifies" "$broken" ""
else
        skip "a rotation that is killed" "strace is not installed, or may not trace here"
fi
CORDON_LEDGER=on "$CORDON" ledger rotate-key >/dev/null && CORDON_LEDGER=on "$CORDON" ledger rotate-key >/dev/null
is "four keys, one after the other" "$("$CORDON" ledger keys | wc -l) $("$CORDON" ledger verify --checkpoint kept.txt >/dev/null; echo $?) $(python3 "$second" "$L" | cut -d ' ' -f 1)" "4 0 ok"
done_testing
