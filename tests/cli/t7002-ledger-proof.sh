#!/bin/sh
# Is the ledger what was written? Whoever changes it is found, a third party can check one record offline, and what
# is exported, pruned or printed still tells the same.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
L=$CORDON_STATE/ledger
run() { "$CORDON" run -q "$@" </dev/null >/dev/null 2>&1; }
id_of() { "$CORDON" ledger --json --box "$1" --kind "$2" | tail -n 1 | sed 's/.*"id":"\([^"]*\)".*/\1/'; }
# settled: the sealer has signed all there is, and is gone
settled() { soon "$T/libexec/cordon-ledger" seal-once "$L"; }
if [ ! -x "$T/libexec/cordon-ledger" ]; then
        skip "proofs" "cordon-ledger is not built: no libcrypto"
        done_testing
fi
has "without a ledger there is nothing to verify, and it says so" "$("$CORDON" ledger verify 2>&1)" "has no ledger"
is "and gives 125" "$("$CORDON" ledger verify >/dev/null 2>&1; echo $?)" 125
for i in 1 2 3 4 5 6 7 8; do run --name "box$i" -- echo "line $i"; done
ok "the ledger is sealed" settled
ok "an honest ledger verifies" "$CORDON" ledger verify
has "and tells how much" "$("$CORDON" ledger verify)" "under"
is "the key is for nobody else" "$(stat -c %a "$L/key")" 600
has "JSON: ok" "$("$CORDON" ledger verify --json)" '"ok":true'

# ---- a third party ----
id=$(id_of box3 output)
"$CORDON" ledger proof "$id" >proof.txt
"$CORDON" ledger keys >keys.txt
has "a proof is in C2SP's form" "$(head -n 1 proof.txt)" "c2sp.org/tlog-proof@v1"
is "a third party checks it with the public key alone" "$(env -i PATH="$PATH" CORDON_LIBEXEC="$T/libexec" CORDON_STATE=/nonexistent "$CORDON" ledger verify --proof proof.txt --key keys.txt | head -n 1 | sed 's/ in .*//; s/[0-9]* of [0-9]*/N/')" "proved: record N"
if python3 -c 'import cryptography' 2>/dev/null; then
        # The same by another's code, from RFC 6962 and the definition of signed notes alone.
        cat >check.py <<'EOF'
import base64, hashlib, sys
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
proof, note = open("proof.txt").read().split("\n\n", 1)
lines = proof.split("\n")
leaf = base64.b64decode(lines[1].split(" ")[1]); index = int(lines[2].split(" ")[1])
path = [base64.b64decode(x) for x in lines[3:]]
text, sigs = note.split("\n\n", 1); text += "\n"
origin, size, root = text.split("\n")[:3]
h = hashlib.sha256(b"\0" + leaf).digest(); fn, sn = index, int(size) - 1
for p in path:
    if fn & 1 or fn == sn:
        h = hashlib.sha256(b"\1" + p + h).digest()
        while not fn & 1 and fn: fn >>= 1; sn >>= 1
    else: h = hashlib.sha256(b"\1" + h + p).digest()
    fn >>= 1; sn >>= 1
assert sn == 0 and base64.b64decode(root) == h
for vkey in open("keys.txt").read().split():
    name, hint, data = vkey.split("+", 2); data = base64.b64decode(data)
    assert hashlib.sha256(name.encode() + b"\n" + data).digest()[:4].hex() == hint
    for s in sigs.strip().split("\n"):
        raw = base64.b64decode(s.split(" ")[2])
        if raw[:4].hex() == hint: Ed25519PublicKey.from_public_bytes(data[1:]).verify(raw[4:], text.encode()); print("proved")
EOF
        is "and so does other people's code" "$(python3 check.py 2>&1)" proved
else
        skip "and so does other people's code" "python3-cryptography is not installed"
fi
sed 's/^index .*/index 0/' proof.txt >wrong.txt
has "a proof for another place does not hold" "$("$CORDON" ledger verify --proof wrong.txt)" "NOT PROVED"
is "and gives 1" "$("$CORDON" ledger verify --proof wrong.txt >/dev/null; echo $?)" 1
CORDON_STATE=$T/other "$CORDON" run -q -- true </dev/null
soon test -s "$T/other/ledger/key.pub"
CORDON_STATE=$T/other "$CORDON" ledger keys >others.txt
has "another's key proves nothing" "$("$CORDON" ledger verify --proof proof.txt --key others.txt)" "NOT PROVED"
is "keys without a proof are not passed over" "$("$CORDON" ledger verify --key others.txt >/dev/null 2>&1; echo $?)" 125
is "nor is what a proof does not go with" "$("$CORDON" ledger verify --proof proof.txt --checkpoint keys.txt >/dev/null 2>&1; echo $?)" 125
is "for programs: it holds" "$("$CORDON" ledger verify --proof proof.txt --json | jq -r '"\(.ok) \(.text | startswith("proved: record"))"')" "true true"
is "and does not" "$("$CORDON" ledger verify --proof wrong.txt --json | jq -r '"\(.ok) \(.text | startswith("NOT PROVED"))"')" "false true"
has "what is no proof is told as such" "$("$CORDON" ledger verify --proof keys.txt 2>&1)" "not a proof"

# ---- somebody changes it ----
cp -a "$CORDON_STATE" whole
found() { # NAME: verify must find something
        out=$("$CORDON" ledger verify 2>&1)
        status=$?
        if [ $status -eq 1 ] && [ "${out#*ALTERED}" != "$out" ]; then pass "$1"; else fail "$1" "status $status" "$out"; fi
        rm -rf "$CORDON_STATE" && cp -a whole "$CORDON_STATE"
}
S=$L/segments/00000001.seg
python3 - "$S" <<'EOF'
import sys
p = sys.argv[1]; b = bytearray(open(p, "rb").read()); i = b.index(b"box3"); b[i] = ord("c"); open(p, "wb").write(b)
EOF
found "a changed byte is found"
python3 - "$S" <<'EOF'
import sys, struct
p = sys.argv[1]; b = open(p, "rb").read(); at = 40
for _ in range(4): at += 8 + struct.unpack_from("<I", b, at)[0]
n = 8 + struct.unpack_from("<I", b, at)[0]; open(p, "wb").write(b[:at] + b[at + n:])
EOF
found "a removed record is found"
truncate -s -100 "$S"
found "a cut end is found"
rm "$S"
found "a removed segment is found"
"$CORDON" ledger checkpoint >kept.txt
run --name later -- true
settled
rm -rf "$L" && cp -a whole/ledger "$L"
found "an old copy put back is found by the witness"
run --name later -- true
settled
"$CORDON" ledger checkpoint >newer.txt
rm -rf "$CORDON_STATE" && cp -a whole "$CORDON_STATE"
ok "an old copy of everything verifies in itself" "$CORDON" ledger verify
is "but not against a checkpoint that somebody kept" "$("$CORDON" ledger verify --checkpoint newer.txt >/dev/null; echo $?)" 1
ok "an older one that was kept still holds" "$CORDON" ledger verify --checkpoint kept.txt
rm -rf "$CORDON_STATE/witness"; : >"$L/checkpoints"
rm -f "$L/key.pub"
run --name x -- true
settled
found "new keys in place of the old are found"

# ---- damaged: consequential doors close, other runs go on ----
truncate -s -2000 "$S"
result=$("$CORDON" run -q --json -- echo ran 2>&1 </dev/null)
has "a damaged ledger stops no run without consequence" "$result" ran
has "and the result says it" "$result" '"ledger":"off: the ledger is damaged'
has "--require-ledger refuses, and tells what to do" "$("$CORDON" run --require-ledger -- echo ran 2>&1 </dev/null)" "cordon ledger restart"
aside=$("$CORDON" ledger restart)
ok "restart keeps the old one" test -f "$aside/segments/00000001.seg"
run --name again -- true
settled
ok "and the new one verifies" "$CORDON" ledger verify
has "and begins with where the old one is" "$("$CORDON" ledger --json | head -n 1)" "$aside"
rm -rf "$CORDON_STATE" && cp -a whole "$CORDON_STATE"
if strace -f -o /dev/null true 2>/dev/null; then
        strace -qq -o /dev/null -P "$L" -e trace="?open,openat" -e inject="?open,openat":error=EMFILE:when=1 "$CORDON" ledger restart >/dev/null 2>restart.err
        is "a restart that lacks descriptors puts nothing aside" "$? $(find "$CORDON_STATE" -maxdepth 1 -name 'ledger-*')" "125 "
        has "and says so" "$(cat restart.err)" "the ledger cannot be put aside: "
        ok "and the ledger and its witness still agree" "$CORDON" ledger verify
        # Once it is put aside and another cannot be begun, it is told where it is.
        strace -qq -o /dev/null -P "$L" -e trace=mkdirat -e inject=mkdirat:error=ENOSPC:when=1 "$CORDON" ledger restart >/dev/null 2>restart.err
        is "a restart that cannot begin another ledger is an error" "$?" 125
        has "which names the old one" "$(cat restart.err)" "the ledger before is $(find "$CORDON_STATE" -maxdepth 1 -name 'ledger-*');"
        rm -rf "$CORDON_STATE" && cp -a whole "$CORDON_STATE"
else
        skip "a restart and a failing call" "strace is not installed, or may not trace here"
fi

# ---- a full disk and a read-only one ----
if [ "$(id -u)" -eq 0 ] && mkdir small && mount -t tmpfs -o size=64k,mode=700 tmpfs small 2>/dev/null; then
        CORDON_STATE=$T/small "$CORDON" run -q -- true </dev/null
        sleep 0.3
        dd if=/dev/zero of=small/fill bs=1k 2>/dev/null
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do # the last page of a file may have room
                result=$(CORDON_STATE=$T/small "$CORDON" run -q --require-ledger -- echo ran 2>&1 </dev/null)
                [ "$result" = ran ] || break
        done
        has "a full disk refuses what must be recorded" "$result" "No space left"
        rm small/fill
        ok "with room again it goes on" env CORDON_STATE="$T/small" "$CORDON" run -q --require-ledger -- true
        sleep 2.5
        ok "and is whole" env CORDON_STATE="$T/small" "$CORDON" ledger verify
        soon mount -o remount,ro small # not while the sealer lingers
        result=$(CORDON_STATE=$T/small "$CORDON" run --require-ledger -- echo ran 2>&1 </dev/null)
        has "a read-only one refuses, too" "$result" "Read-only"
        soon umount small
else
        skip "a full disk refuses what must be recorded" "no filesystem can be mounted here"
fi

# ---- keys, pruning ----
is "rotate: two keys" "$("$CORDON" ledger rotate-key | wc -l)" 2
run --name rotated -- true
settled
ok "old and new signatures hold" "$CORDON" ledger verify
has "the change is recorded" "$("$CORDON" ledger --kind key)" "a new key"
ok "an old proof holds, because the old key stays known" "$CORDON" ledger verify --proof proof.txt
# Of a damaged ledger nothing is pruned: what is behind the damage would go with it.
cp -a "$CORDON_STATE" "$T/damaged" && seg=$(ls -S "$T/damaged"/ledger/segments/*.seg | head -n 1)
size=$(stat -c %s "$seg") && printf '\377\377\377\377' | dd of="$seg" bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
sum=$(sha256sum <"$seg")
CORDON_STATE=$T/damaged "$CORDON" ledger prune --older 0ms --kind output >"$T/out" 2>&1
is "a damaged ledger is not pruned, and that is said" "$? $(grep -c 'the ledger is damaged: nothing was pruned' "$T/out")" "125 1"
is "it is as it was" "$(sha256sum <"$seg")" "$sum"
before=$("$CORDON" ledger --json --kind output | wc -l)
for option in "--box none" "--run none" "--target none" "--since 1s" "-n 1" "--json" "--format jsonl"; do
        # shellcheck disable=SC2086
        "$CORDON" ledger prune --older 0ms --kind output $option >"$T/out" 2>&1
        is "prune does not pass over ${option%% *}: nothing goes" "$? $("$CORDON" ledger --json --kind output | wc -l)" "125 $before"
done
has "and it is said" "$("$CORDON" ledger prune --older 0ms --box none 2>&1)" 'error: `cordon ledger prune` has no option --box'
has "an option of a question is not for the list" "$("$CORDON" ledger --older 1d 2>&1)" 'error: `cordon ledger` has no option --older'
is "nor a choice for a question about all" "$("$CORDON" ledger target --box none x >/dev/null 2>&1; echo $?)$("$CORDON" ledger show --kind end >/dev/null 2>&1; echo $?)" 125125
ok "there is something to prune" test "$before" -ge 8
is "prune tells how many" "$("$CORDON" ledger prune --older 0ms --kind output)" "$before payloads removed; their hashes stay"
is "they are gone" "$("$CORDON" ledger --json --kind output)" ""
hasnt "also from the disk" "$(cat "$L"/segments/*.seg | tr -c '[:print:]' '\n')" '"kind":"output"'
settled
ok "and the ledger verifies" "$CORDON" ledger verify
has "telling how many are pruned" "$("$CORDON" ledger verify)" "$before payloads were pruned"
ok "a proof made before holds" "$CORDON" ledger verify --proof proof.txt
has "prune wants to know what" "$("$CORDON" ledger prune 2>&1)" "--older"

# ---- exports ----
run --name exported -- echo hello
is "jsonl: the records as they are" "$("$CORDON" ledger export --format jsonl --box exported --kind start)" "$("$CORDON" ledger --json --box exported --kind start)"
ok "otlp is JSON with log records" sh -c '"$1" log export --format otlp --box exported | jq -e ".resourceLogs[0].scopeLogs[0].logRecords | length >= 3 and (.[0].timeUnixNano | test(\"^[0-9]{19}$\"))"' - "$CORDON"
ok "ocsf: one event a line, with its class" sh -c '"$1" log export --format ocsf --box exported | jq -s -e "map(select(.class_uid == 1007 and .type_uid == 100701 and .metadata.version)) | length == 1"' - "$CORDON"
has "prometheus: counters" "$("$CORDON" ledger export --format prometheus)" 'cordon_effects_total{kind="start",phase="start",reach="self"}'
has "another format is refused" "$("$CORDON" ledger export --format xml 2>&1)" "not \`xml\`"
has "an export is itself recorded" "$("$CORDON" ledger --json --kind view)" '"door":"export"'

# ---- the page ----
run --name '<b>x' -- true
run --name hostile -- sh -c 'echo "</text><script>alert(1)</script>"'
"$CORDON" run -q --name pageone -- echo hello | "$CORDON" run -q --name pagetwo -- python3 -c 'import socket,sys; sys.stdin.read(); socket.socket()' 2>/dev/null
ok "report writes a page" "$CORDON" ledger report pagetwo --html page.html
is "it asks the network for nothing" "$(grep -oE 'src=|href="[^#]|url\([^#]|@import|<script' page.html)" ""
has "it has the graph" "$(cat page.html)" "<svg"
has "and the story, as the page of serve draws it" "$(cat page.html)" 'aria-label="What came in, the box, and what it did"'
is "in which each effect leads to its row" "$(grep -o 'href="#r[0-9]*"' page.html | sort -u | while read -r link; do grep -q "id=\"${link#href=\"#}" page.html || echo "$link"; done)" ""
has "it begins with the command" "$(grep -A1 '<dl>' page.html)" "<dt>Command</dt>"
has "and the result" "$(cat page.html)" "<dt>Result</dt><dd>exited "
is "there is a filter for each phase" "$(grep -c 'type="checkbox"' page.html)" 6
"$CORDON" run -q --name pagebig -- sh -c 'i=0; while [ $i -lt 300 ]; do cat "/srv/none$i"; i=$((i + 1)); done' </dev/null >/dev/null 2>&1
"$CORDON" ledger report pagebig --html big.html
is "the table of a run with many records has all of them" "$(grep -c '^<tr class' big.html)" "$("$CORDON" ledger --json --box pagebig | wc -l)"
has "with the cause in another run" "$(cat page.html)" "$(id_of pageone output)"
has "report of nothing is refused" "$("$CORDON" ledger report nothing-like-it --html page2.html 2>&1)" "the ledger has no run"
ok "and leaves no file" test ! -e page2.html
echo mine >theirs && ln -s theirs page3.html
ok "a link that an earlier box left there is replaced" "$CORDON" ledger report pagetwo --html page3.html
is "and what it led to is as it was" "$(cat theirs) $(test -L page3.html || head -c 9 page3.html)" "mine <!doctype"
echo old >page4.html && chmod 600 page4.html && "$CORDON" ledger report pagetwo --html page4.html
is "a page that was private stays so" "$(stat -c %a page4.html) $(head -c 9 page4.html)" "600 <!doctype"
ok "a page that cannot be written is told" test "$(status "$CORDON" ledger report pagetwo --html /dev/full)" = 125
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$browser" ]; then
        timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$T/browser" --virtual-time-budget=2000 --dump-dom "file://$T/page.html" >dom.html 2>browser.txt
        is "a real browser draws it: as many boxes as records" "$(grep -o '<g class="node' dom.html | wc -l)" "$(grep -o '<g class="node' page.html | wc -l)"
        timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$T/browser" --hide-scrollbars --window-size=1200,800 --screenshot="$T/page.png" "file://$T/page.html" >/dev/null 2>browser.txt
        ok "and paints a picture of it" test -s page.png
        ok "in which something is drawn" sh -c '[ "$(wc -c <page.png)" -gt 8000 ]'
else
        skip "a real browser draws it" "chromium is not installed"
fi
settled
ok "after all this the ledger verifies" "$CORDON" ledger verify
sleep 2.2 # for the last sealer
done_testing
