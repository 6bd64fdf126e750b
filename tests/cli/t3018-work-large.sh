#!/bin/sh
# Large files: content counts, however large, and whatever their times say. Files of holes, so that it costs little.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"
who=root D=$T/root
# byte FILE AT [NEW]: what stands there; or what shall, with the file's times as they were
byte() {
        [ $# -eq 3 ] || { dd if="$1" bs=1 skip="$2" count=1 status=none | tr '\0' 0; return; }
        touch -r "$1" mark && printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none && touch -r mark "$1"
}
far=1200000000
mkdir -p "$D/p" && truncate -s 1200M "$D/p/big" && byte "$D/p/big" $far x
$who "$CORDON" run -q --no-stdin --limit 'disk 4G' --edit "$D/p" --cwd "$D/p" --status-fd 3 -- sh -c 'printf y | dd of=big bs=1 seek=100 conv=notrunc status=none' 3>status
run=$(jq -r .work.layer status)
is "the layer keeps the holes" "$([ "$(du -sm "$CORDON_STATE" | cut -f1)" -lt 50 ] && echo yes)" yes
byte "$D/p/big" $((far + 1)) z
has "a byte of the host's beyond a GiB is in the way, though size and time are as before" "$(cordon apply "$run")" "conflict: big: changed since"
is "and is not overwritten" "$(byte "$D/p/big" $((far + 1)))$(byte "$D/p/big" 100)" z0
byte "$D/p/big" $((far + 1)) '\0'
has "as it was, it lands" "$(cordon apply "$run")" "applied 1 entry"
is "whole" "$(byte "$D/p/big" 100)$(byte "$D/p/big" $far)$(byte "$D/p/big" $((far + 1)))" yx0
is "and with its holes" "$([ "$(du -sm "$D/p" | cut -f1)" -lt 50 ] && echo yes)" yes
byte "$D/p/big" $((far + 2)) z
has "undo finds such a byte, too" "$(cordon undo "$run")" "conflict: big: changed since"
byte "$D/p/big" $((far + 2)) '\0'
has "as it was, it is taken back" "$(cordon undo "$run") $(byte "$D/p/big" 100)" "can be applied again 0"
done_testing
