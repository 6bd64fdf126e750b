#!/bin/sh
# A ledger that an earlier version wrote (tests/golden/ledger-1: segments, tiles, checkpoints and public key, as bytes) is read,
# verified, traced and gone on with by this one; one of a later format is left alone, with a sentence.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
run=15778-4a606a-effffffceb583708
# old: the ledger anew
old() {
        remove state && mkdir -m 700 state && cp -r "$CORDON_SOURCE/tests/golden/ledger-1" state/ledger && chmod -R go= state
}
quiet() { CORDON_LEDGER=off "$CORDON" "$@" 2>&1; }
sums() { (cd state && find ledger -type f | sort | xargs sha256sum); }

old && sums >want
has "verify: all of it is sealed by its own key" "$(quiet ledger verify)" "11 records, 10 of them under 4 checkpoints
1 record is not sealed yet: only its checksum protects it
11 records of version 1 since 2026-11-15T17:55:25Z
nothing that is sealed was changed, removed, reordered or added"
sums >got
ok "verify reads only" cmp want got
is "log" "$(quiet ledger --json --run $run | jq -r '"\(.id) \(.kind) \(.phase) \(.result // "")"' | sed "s/^$run.//")" "start start start 
1 file claim shown; single reads are not observed
2 output outcome 
3 output outcome 
end end end exited 0
q00ddda file intent 
a00ddda1 file outcome applied
a8e6adf1 file human taken back"
has "log show by the box's name" "$(quiet ledger show gold)" "file /tmp/golden/p/a: applied"
is "trace leads from the file to the run's start" "$(quiet ledger trace $run.a00ddda1 | grep -c -e "$run.start  start sh" -e "$run.q00ddda  file intent")" 2
is "a digest of then is still found" "$(quiet ledger --json | jq -r 'select(.id == "'$run'.a00ddda1") | .digest')" "sha256:$(printf 'ONE\n' | sha256sum | cut -d' ' -f1)"
"$CORDON" run -q --no-stdin --name green -- true 2>err
is "a run of today adds to it" "$(cat err) $(quiet ledger --json | jq -r 'select(.box == "green") | .kind' | tr '\n' ' ')" " start end "
is "without its key nothing more is sealed" "$("$T/libexec/cordon-ledger" seal-once state/ledger 2>&1 | grep -c 'key is missing')" 1
has "and what was stays so" "$(quiet ledger verify)" "13 records, 10 of them under 4 checkpoints
3 records are not sealed yet: only their checksums protect them
13 records of version 1 since 2026-11-15T17:55:25Z
nothing that is sealed was changed"
old && printf X | dd of=state/ledger/segments/00000001.seg bs=1 seek=700 conv=notrunc status=none
has "one byte of then that is another now is found" "$(quiet ledger verify)" ALTERED

old && printf cordonH2 | dd of=state/ledger/head conv=notrunc status=none && sums >want
for verb in "log verify" log "log show gold" "log trace $run.end" "log prune --older 1d" "run --no-stdin --require-ledger -- true"; do
        # shellcheck disable=SC2086
        has "a later format: $verb" "$("$CORDON" $verb 2>&1)" "the ledger was written by a later cordon: its format is 2, and this one knows 1"
done
"$CORDON" run -q --no-stdin -- true 2>/dev/null
is "a run that needs no ledger goes on" $? 0
sums >got
ok "and nothing was added to it" cmp want got
done_testing
