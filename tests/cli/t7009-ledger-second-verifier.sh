#!/bin/sh
# A second verifier, written from cordon-ledger(5) alone, agrees with `cordon ledger verify`: on a whole ledger, on a copy in the
# layout of tlog-tiles, on a proof, and on a ledger in which any one byte was changed.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
L=$CORDON_STATE/ledger
second="$CORDON_SOURCE/tests/cli/helpers/verify_ledger.py"
if [ ! -x "$T/libexec/cordon-ledger" ] || ! command -v openssl >/dev/null; then
        skip "a second verifier" "cordon-ledger or openssl is missing"
        done_testing
fi
sealed() { "$CORDON" ledger verify --json | jq -e '.ok and .sealed == .records' >/dev/null; }
i=0
while [ $i -lt 90 ]; do
        "$CORDON" run -q --name "box$i" -- echo "line $i" </dev/null >/dev/null 2>&1
        i=$((i + 1))
done
ok "the ledger is sealed" soon sealed
records=$("$CORDON" ledger verify --json | jq .records)
ok "it has enough records for two tiles" test "$records" -gt 256
is "the second verifier agrees" "$(python3 "$second" "$L")" "ok $records"

is "the copy in tlog-tiles has all sealed records" "$("$CORDON" ledger tiles "$T/tiles")" "$records records"
ok "which is sealed again with the record of this look" soon sealed
is "another client reads it" "$(python3 "$second" --tiles "$T/tiles" "$L/key.pub")" "ok $records"
"$CORDON" ledger proof "$("$CORDON" ledger --json -n 1 --kind start | jq -r .id)" >proof
is "and a proof" "$(python3 "$second" --proof proof "$L/key.pub")" "ok 1"
ok "which verify takes too" "$CORDON" ledger verify --proof proof

# ---- one byte ----
soon sealed
cp -a "$L" "$T/whole"
size=$(stat -c %s "$L/segments/00000001.seg")
most=0 missed='' n=0
for at in 9 20 30 39 41 45 60 $((size / 3)) $((size / 2)) $((size - 400)); do
        rm -rf "$L" && cp -a "$T/whole" "$L"
        python3 -c 'import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2])); b = f.read(1); f.seek(-1, 1); f.write(bytes([b[0] ^ 1]))' "$L/segments/00000001.seg" "$at"
        "$CORDON" ledger verify >out 2>&1 && missed="$missed $at"
        python3 "$second" "$L" >/dev/null && missed="$missed second:$at"
        lines=$(grep -c '^ALTERED' out)
        [ "$lines" -le "$most" ] || most=$lines
        n=$((n + 1))
done
is "both find every changed byte" "$missed" ""
ok "in at most six lines" test "$most" -ge 1 -a "$most" -le 6
done_testing
