#!/bin/sh
# Labels stay on files: what a labelled run could write labels the runs that read it, across boxes and restarts, until a person
# drops the label.
# shellcheck disable=SC2086,SC2154,SC2016
. "$(dirname "$0")/lib.sh"
elsewhere cordon-label
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
cd "$D" || exit 1
printf 'secret\n' >source
labels() { "$CORDON" run --json "$@" 2>&1 >/dev/null </dev/null | tail -n 1 | jq -r '.labels // "none"'; } # OPTION... -- COMMAND
shown() { "$CORDON" label show --json "$@" | jq -r '.[].labels'; }
policy() { printf 'use base/system\n' >"$T/policy" && printf '%s\n' "$@" >>"$T/policy"; }

is "a run without labels has none" "$(labels --read source -- cat "$D/source")" none
is "and stamps nothing" "$("$CORDON" label show)" "no labelled files"

# ---- write doors ----
mkdir one two
policy "read $D/source label private:src" "write $D/one"
is "a labelled run" "$(labels --policy "$T/policy" -- cp "$D/source" "$D/one/copy")" private:src
is "labels what it could write" "$(shown one/copy)" private:src
is "B reads it: B is labelled" "$(labels --read one -- cat "$D/one/copy")" private:src
is "also if only that file is handed over" "$(labels --read one/copy -- cat "$D/one/copy")" private:src
is "a box without that door is not" "$(labels --read two -- true)" none
mv one/copy two/renamed
is "what it did not stamp itself is found in its directory only" "$(labels --read one -- true)" private:src

# ---- through five boxes ----
from=source
for box in a b c d e; do
        mkdir "box-$box"
        policy "read $D/$from" "write $D/box-$box"
        [ $box != a ] || policy "read $D/$from label private:src untrusted" "write $D/box-$box"
        labels --policy "$T/policy" -- cp "$D/$from" "$D/box-$box/file" >"$T/label"
        is "box $box" "$(cat "$T/label")" "private:src untrusted"
        from=box-$box/file
done

# ---- handles ----
policy "env KEY=1 label private:key" "out result"
is "an out handle" "$(labels --policy "$T/policy" --handle result=out.txt -- sh -c 'echo x >"$CORDON_OUT_RESULT"')" private:key
is "labels its file" "$(shown out.txt)" private:key
is "is in the index by its name" "$(jq -r .path "$CORDON_STATE/labels/index" | grep -c "/out.txt$"; grep -c deleted "$CORDON_STATE/labels/index")" "1
0"
labels --policy "$T/policy" --handle result=again.txt -- sh -c 'echo x >"$CORDON_OUT_RESULT"' >/dev/null
cp again.txt saved && mv saved again.txt
is "so it keeps its label when it is saved anew" "$(shown again.txt)" private:key
mkdir none && labels --policy "$T/policy" --handle result=none/out.txt -- false >/dev/null
is "a run that failed leaves none" "$(shown none)" ""
is "what does not exist and has no label is no file" "$(status "$CORDON" label show --json nosuch)" 125
is "an in handle labels its run" "$(labels --in data --handle data=out.txt -- true)" private:key
mv out.txt moved.txt
is "a stamped file that was renamed is found by its inode" "$(labels --in data --handle data=moved.txt -- true)" private:key
attribute() { python3 -c 'import os, sys; f, v = sys.argv[1:]; os.setxattr(f, "user.cordon.label", v.encode()) if v else os.removexattr(f, "user.cordon.label")' "$1" "$2" 2>/dev/null; }
printf x >odd
if attribute odd 'what is this'; then
        is "a broken label is the worst one" "$(labels --in data --handle data=odd -- true)" "private:* untrusted"
        cp --preserve=xattr moved.txt kept.txt
        is "a copy that keeps attributes keeps the label" "$(labels --in data --handle data=kept.txt -- true)" private:key
        attribute moved.txt ''
        is "who removes the attribute cleans nothing" "$(labels --in data --handle data=moved.txt -- true)" private:key
else
        skip "attributes" "this filesystem has none"
fi

# ---- edit doors ----
mkdir work && echo old >work/file && echo other >work/other
policy "edit $D/work" "env KEY=1 label private:edit"
is "behind an edit door nothing is labelled yet" "$(labels --policy "$T/policy" -- sh -c "echo new >$D/work/file"; shown work/file)" private:edit
run=$("$CORDON" diff --json 2>/dev/null | jq -r .run 2>/dev/null)
policy "edit $D/work"
is "a run that goes on in the overlay is labelled" "$(labels --policy "$T/policy" --on "${run:-none}" -- true)" private:edit
"$CORDON" apply "$run" >"$T/applied" 2>&1
is "applied, the label goes on" "$(shown work/file)" private:edit
is "to what was changed alone" "$(shown work/other)" ""

# ---- people ----
printf 'x\n' >person
ok "a person stamps a file" "$CORDON" label add person private:mine untrusted
is "and reads its label" "$("$CORDON" label show person)" "$D/person: private:mine untrusted"
is "an invalid label is refused" "$(status "$CORDON" label add person secret)" 125
is "dropping needs a reason" "$(status "$CORDON" label drop person untrusted)" 125
is "and a terminal" "$(status setsid "$CORDON" label drop --reason read person untrusted)" 125
terminal "$CORDON" label drop --reason "I read it" person untrusted >"$T/said"
is "a person at one drops it" "$(shown person)" private:mine
has "with a record of who and why" "$("$CORDON" ledger --kind file --json | grep '"dropped"')" "I read it"
terminal "$CORDON" label drop --reason "I read it" work/other private:edit >"$T/said"
has "what a file does not have cannot be dropped" "$(cat "$T/said")" "does not have this label"
ok "the ledger verifies" "$CORDON" ledger verify

echo '{' >>"$CORDON_STATE/labels/index"
is "a damaged index stops a run" "$(status "$CORDON" run -- true)" 125
has "and says so" "$(cat "$T/err")" "index of labels is damaged"
done_testing
