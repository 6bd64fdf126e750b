#!/bin/sh
# Built twice, in two directories: the same bytes.
. "$(dirname "$0")/../cli/lib.sh"
cd "$CORDON_SOURCE" || exit 1
# Without a cache: what is compared is compiled twice.
CCACHE_DISABLE=1 && export CCACHE_DISABLE
for where in one a/longer/way/to/two; do
        mkdir -p "$T/$where" && git clone -q . "$T/$where/src"
        ok "dist in $where" make -s -C "$T/$where/src" dist DIST="$T/$where/dist"
done
for f in "$T/one/dist"/cordon-*; do
        ok "$(basename "$f") is the same" cmp "$f" "$T/a/longer/way/to/two/dist/$(basename "$f")"
done
done_testing
