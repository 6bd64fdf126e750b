#!/bin/sh
# The 72 programs of the WASI preview 1 test suite, each in a box of its own behind the wasm wall. The suite is not part of this
# repository: $CORDON_SUITES, or ../shared/suites beside it, holds wasi.tar.xz.
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)
suites=${CORDON_SUITES:-$source/../shared/suites}
[ -d "$suites" ] || suites=$source/../../shared/suites
if [ ! -f "$suites/wasi.tar.xz" ] || ! command -v jq >/dev/null; then
        skip "72 programs of the WASI test suite" "wasi.tar.xz is not in $suites, or jq is missing"
        done_testing
fi
mkdir "$T/suite" && tar -C "$T/suite" -xJf "$suites/wasi.tar.xz"
# What a program wants, as shell: root, its options and arguments, status and output (or none).
wants='"root=" + (.root // "" | @sh) + " wanted=\(.exit_code // 0) text=" + (.stdout // "any" | @sh) + " options=" +
        ([(.env // {}) | keys[] | "--env " + @sh] | join(" ") | @sh) + " variables=" +
        ([(.env // {}) | to_entries[] | .key + "=" + .value | @sh] | join(" ") | @sh) + " arguments=" +
        ([(.args // [])[] | @sh] | join(" ") | @sh)'
count=0
for program in "$T"/suite/wasi/tests/*/testsuite/wasm32-wasip1/*.wasm; do
        count=$((count + 1))
        root='' wanted=0 text=any options='' variables='' arguments=''
        [ ! -f "${program%.wasm}.json" ] || eval "$(jq -r "$wants" "${program%.wasm}.json")"
        # Each has a tree of its own: some programs leave files behind.
        rm -rf "$T/root" && mkdir "$T/root"
        [ -z "$root" ] || { cp -R "${program%/*}/$root/." "$T/root" && options="--write . $options"; }
        got=$(cd "$T/root" && eval "env $variables \"\$CORDON\" run -q --ledger off --wall wasm $options -- \"\$program\" $arguments" 2>"$T/err" </dev/null)
        ended=$?
        [ "$text" != any ] || text=$got
        is "${program##*/}" "$ended:$got" "$wanted:$text"
        [ "$ended" = "$wanted" ] || sed 's/^/# /' "$T/err"
done
is "all programs were there" $count 72
done_testing
