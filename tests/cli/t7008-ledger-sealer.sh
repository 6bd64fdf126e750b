#!/bin/sh
# What the sealer signs, and what it does not: a ledger whose records are not those of its last checkpoint gets no other one;
# tiles are a copy, and made again; a proof is made of what is sealed and still there; a key or a note that is not quite one is none.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
L=$CORDON_STATE/ledger
sealer=$T/libexec/cordon-ledger
if [ ! -x "$sealer" ]; then
        skip "the sealer" "cordon-ledger is not built: no libcrypto"
        done_testing
fi
# Nobody seals but this test: where the program is looked for there is one that does nothing.
mkdir "$T/idle" && printf '#!/bin/sh\n' >"$T/idle/cordon-ledger" && chmod 755 "$T/idle" "$T/idle/cordon-ledger" && cp "$CORDON_LIBEXEC/cordon-review" "$T/idle/"
run() { CORDON_LIBEXEC=$T/idle "$CORDON" run -q "$@" </dev/null >/dev/null 2>&1; }
id_of() { CORDON_LIBEXEC=$T/idle "$CORDON" ledger --json --box "$1" --kind "$2" | tail -n 1 | sed 's/.*"id":"\([^"]*\)".*/\1/'; }
seal() { "$sealer" seal-once "$1" 2>&1; echo "$?"; }
# from WHERE: a copy of the ledger at WHERE, for one attempt; its last checkpoint's text in $last
from() { rm -rf "$T/copy" && cp -a "$1" "$T/copy" && last=$(cat "$T/copy/checkpoints"); }
flip() { python3 -c 'import sys
for f in sys.argv[1:]:
    b = bytearray(open(f, "rb").read())
    for i in range(len(b)): b[i] ^= 0x55
    open(f, "wb").write(b)' "$@"; }

for i in 1 2 3; do run --name "box$i" -- echo "line $i"; done
is "an honest ledger is sealed" "$(seal "$L")" 0
cp -a "$L" "$T/sealed"
run --name box4 -- echo "line 4"

# ---- watches (inotify): the kernel counts them for an account, and others of its programs may have all ----
unwatched() { unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_inotify_instances && exec "$@"' sh "$@"; }
if unwatched true 2>/dev/null; then
        for _ in 1 2 3 4 5; do # a run that takes longer than the sealer lingers is written when it has gone
                rm -rf "$T/unwatched"
                (
                        export CORDON_STATE="$T/unwatched"
                        run -- echo "there before"
                        unwatched timeout -k 1 20 "$sealer" seal "$CORDON_STATE/ledger" 2>err &
                        soon test -s "$CORDON_STATE/ledger/checkpoints"
                        run -- echo "there meanwhile"
                        wait $!
                        echo "$?: $(cat err)" >ended
                        "$CORDON" ledger verify --json >verified
                )
                ! jq -e '.sealed == .records' <verified >/dev/null || break
        done
        is "without a watch the sealer ends as it does with one" "$(cat ended)" "0: "
        is "and has sealed all, also what was written meanwhile" "$(jq '.records > 4 and .sealed == .records' <verified)" true
else
        skip "without a watch the sealer seals all" "no user namespace can be made here"
fi

# ---- proofs ----
id=$(id_of box4 output)
unsealed() { CORDON_LIBEXEC=$T/idle "$CORDON" ledger proof "$id"; } # else it would be sealed for the proof
has "a record that no checkpoint covers is not proved" "$(unsealed 2>&1)" "the record is not sealed yet"
is "and gives no proof" "$(unsealed 2>/dev/null)" ""
is "with the next checkpoint" "$(seal "$L")" 0
has "it is" "$("$CORDON" ledger proof "$id" 2>&1)" "c2sp.org/tlog-proof@v1"
cp -a "$L" "$T/whole"
flip "$L"/tiles/0
has "tiles that prove nothing are told, and no proof is given" "$(unsealed 2>&1)" "does not prove this record any more"
rm -rf "$L" && cp -a "$T/whole" "$L"

# ---- tiles are a copy ----
cp -a "$L" "$T/before"
run --name box5 -- echo "line 5"
from "$L"
flip "$T"/copy/tiles/*
is "with wrong tiles it seals what the records say" "$(seal "$T/copy")" 0
rm -rf "$L" && cp -a "$T/copy" "$L"
ok "and that verifies" "$CORDON" ledger verify
ok "with one more checkpoint" test "$(grep -c '^— ' "$L/checkpoints")" -gt "$(grep -c '^— ' "$T/before/checkpoints")"

# ---- records are not ----
from "$T/whole"
rm -r "$T/copy/tiles"
python3 - "$T/copy" <<'END'
import glob, os, sys
f = sorted(glob.glob(sys.argv[1] + "/segments/*.seg"))[-1]
b = open(f, "rb").read().rstrip(b"\0")
os.truncate(f, len(b) * 2 // 3)
END
has "records that a checkpoint covers are missing: nothing is signed" "$(seal "$T/copy")" "damaged"
is "and no checkpoint is added" "$(cat "$T/copy/checkpoints")" "$last"

# The records of another ledger, longer and whole: every frame is good, and none is what was signed.
CORDON_STATE=$T/other
export CORDON_STATE
mkdir -m 700 "$T/other"
for i in 1 2 3 4 5 6; do run --name "box$i" -- echo "other line $i"; done
CORDON_STATE=$T/state
from "$T/whole"
rm -r "$T/copy/segments" "$T/copy/tiles"
cp -a "$T/other/ledger/segments" "$T/other/ledger/head" "$T/copy/"
has "other records than those that were signed: nothing is signed" "$(seal "$T/copy")" "records do not match the last checkpoint"
is "and no checkpoint is added" "$(cat "$T/copy/checkpoints")" "$last"

# ---- keys and notes ----
"$CORDON" ledger keys >keys
checked() { "$sealer" check "$1" <"$2" 2>&1 | sed 's/^[0-9]* //' | sort -u | tr '\n' ' '; }
is "a good key judges" "$(checked keys "$L/checkpoints")" "good "
python3 - <<'END'
import base64
name, hint, data = open("keys").read().split()[0].split("+", 2)
raw = base64.b64decode(data)
def put(f, *parts): open(f, "w").write("+".join(parts) + "\n")
put("key-hint-long", name, hint + "aa", data)
put("key-hint-short", name, hint[:6], data)
put("key-hint-other", name, "00000000" if hint != "00000000" else "11111111", data)
put("key-other-algorithm", name, hint, base64.b64encode(b"\2" + raw[1:]).decode())
put("key-short", name, hint, base64.b64encode(raw[:-1]).decode())
put("key-long", name, hint, base64.b64encode(raw + b"x").decode())
put("key-name-long", "n" * 64, hint, data)
put("key-line-long", name, hint, data + "A" * 4000)
put("key-no-name", "", hint, data)
notes = open("state/ledger/checkpoints").read()
note = notes[:notes.index("\n\n", notes.index("\n\n") + 2) + 1] if notes.count("\n\n") > 1 else notes
text, sig = note.split("\n\n", 1)
def note_of(f, text, sig): open(f, "w").write(text + "\n\n" + sig)
note_of("note-good", text, sig)
note_of("note-unsigned", text, "")
note_of("note-other-mark", text, sig.replace("— ", "-- "))
note_of("note-changed", text.replace("\n", "\n1", 1), sig)
note_of("note-more-text", text + "\nan extension", sig)
note_of("note-no-origin", "\n" + text.split("\n", 1)[1], sig)
END
for k in key-*; do
        is "$k is no key" "$("$sealer" check "$k" <note-good >"$T/said" 2>&1; echo "$? $(sed -n '1s/^[0-9]* //p' "$T/said") $(tail -n 1 "$T/said")")" "0 unknown key a line that is no key"
done
is "a note by itself" "$(checked keys note-good)" "good "
for n in unsigned other-mark changed more-text no-origin; do is "a note is bad: $n" "$(checked keys "note-$n")" "bad "; done
done_testing
