#!/bin/sh
# ARCHITECTURE.md's table of what is trusted: each program that is built is in it, with its size.
. "$(dirname "$0")/../cli/lib.sh"
cd "$CORDON_SOURCE" || exit 1
if ! command -v readelf >/dev/null || ! readelf -S "$BUILD/src/face/cli/cordon" | grep -q debug_info; then
        skip "sizes of the programs" "the build has no debug information, or readelf is missing"
        done_testing
fi
tools/house --json >"$T/house"
jq -r '.programs | to_entries[] | select(.key != "cordon-selftest") | "\(.key) \(.value.lines)"' "$T/house" >"$T/programs"
ok "programs are found" test "$(wc -l <"$T/programs")" -ge 8
while read -r program lines; do
        said=$(sed -n "s/^| \`$program\`[^|]*| \([0-9,]*\) |.*/\1/p" ARCHITECTURE.md | tr -d ,)
        is "$program links about as many lines as ARCHITECTURE.md says ($lines)" "$([ -n "$said" ] && [ $((lines * 20)) -le $((said * 21)) ] && [ $((lines * 20)) -ge $((said * 19)) ] && echo yes || echo "${said:-none}")" yes
done <"$T/programs"
done_testing
