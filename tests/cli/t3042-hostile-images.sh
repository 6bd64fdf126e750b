#!/bin/sh
# Hostile images: each is refused and leaves nothing, or is unpacked into its own tree and nowhere else.
. "$(dirname "$0")/lib.sh"
busybox=$(command -v busybox) && file -L "$busybox" | grep -q static || {
        skip "hostile images" "no static busybox (package busybox-static)"
        done_testing
}
CANARY=$T/canary
export CANARY
mkdir -m 755 "$CANARY"
echo whole >"$CANARY/file"
sum() { (cd "$CANARY" && find . -printf '%p %y %m %n %s %T@ %C@\n'; cat file) | cksum; }
before=$(sum)
S=$T/own-state
CORDON_STATE=$S
export CORDON_STATE
helper=$(dirname "$0")/helpers/image.py

refused() { # KIND PART: the reason has PART in it
        out=$(timeout 100 "$CORDON" image add "$T/$1" 2>&1 </dev/null)
        is "$1 is refused" $? 125
        has "$1: for its reason" "$out" "$2"
        is "$1: nothing is kept" "$(find "$S/images" -mindepth 1 -maxdepth 1 ! -name lock 2>/dev/null | wc -l)" 0
        is "$1: the canary is whole" "$(sum)" "$before"
        rm -rf "${T:?}/$1"
}
cat >"$T/table" <<END
absolute a name is absolute
dots a name has a
hardlink-out a name is absolute
hardlink-dots a name has a
hardlink-through No such file
hardlink-directory it is a directory
hardlink-missing No such file
symlink-loop symbolic links
whiteout-dots names nothing
whiteout-empty names nothing
whiteout-directory name of a whiteout
below-file Not a directory
deep too deep
long-part 255 bytes
long-path too long
pax-size in the middle
pax-size-bad no number
pax-huge too long
pax-record wrong length
nul-name NUL
sparse sparse
sparse-pax sparse
unknown-type unknown type
negative-size broken
size-beyond in the middle
checksum checksum
truncated in the middle
bomb bomb
million more than 1000000
thousand 1000 layers
lie-layer digest
lie-config digest
lie-manifest digest
wrong-diff digest
outer-dots no layer
END
# shellcheck disable=SC2046
NO_PROGRAM=1 python3 "$helper" $(while read -r kind _; do echo "$kind $T/$kind"; done <"$T/table") || fail "the images are made"
while read -r kind part; do refused "$kind" "$part"; done <"$T/table"

# Those that are unpacked: what a box then sees, and what is in the tree.
unpacked() { # KIND
        "$CORDON" image prune --all >/dev/null
        mv "$T/$1" "$T/image"
        "$CORDON" image add "$T/image" >"$T/added" 2>&1 </dev/null
        is "$1 is unpacked" $? 0
        tree=$(echo "$S"/images/*/root)
        is "$1: no set-id, device, FIFO, socket" "$(find "$tree" \( -perm /7000 -o ! -type f ! -type d ! -type l \) | wc -l)" 0
        is "$1: the canary is whole" "$(sum)" "$before"
}
kinds="symlink-out symlink-up device fifo setuid owners xattrs whiteout-all whiteout-own duplicate file-over-directory deep-links
pax-long gnu-long in-dev own-links"
# shellcheck disable=SC2046
python3 "$helper" $(for kind in $kinds; do echo "$kind $T/$kind"; done) || fail "the images are made"
box() { "$CORDON" run -q --image "$T/image" -- "$@" 2>&1 </dev/null; }
unpacked symlink-out
is "through a link out it lies inside" "$(cat "$tree$CANARY/file")" evil
unpacked symlink-up
is "a link up stays inside as well" "$(cat "$tree$CANARY/file")" evil
unpacked device
has "devices are counted" "$(cat "$T/added")" "1 devices are left out"
is "and the rest is there" "$(box cat /etc/after)" x
unpacked fifo
has "FIFOs are counted" "$(cat "$T/added")" "1 FIFOs are left out"
unpacked setuid
has "set-id bits are counted" "$(cat "$T/added")" "2 set-id or sticky bits"
is "the program keeps its other bits" "$(stat -c %a "$tree/bin/su")" 755
unpacked owners
has "owners are counted" "$(cat "$T/added")" "1 files of other owners"
is "the box reads what nobody could" "$(box cat /etc/shadow /closed/in)" secretx
unpacked xattrs
has "attributes are counted" "$(cat "$T/added")" "3 extended attributes"
is "and not kept" "$(getfattr -d -m - "$tree/bin/ping" 2>/dev/null)" ""
unpacked whiteout-all
is "whiteouts of everything leave nothing" "$(find "$tree" -mindepth 1 | wc -l)" 0
is "and such a box starts nothing" "$(status "$CORDON" run -q --image "$T/image" -- sh)" 127
unpacked whiteout-own
is "a whiteout spares its own layer" "$(cat "$tree/etc/new"; ls "$tree/old")" "$(printf 'nupper')"
unpacked duplicate
is "the last entry of a name holds" "$(cat "$tree/twice" "$tree/usr"; readlink "$tree/etc" "$tree/bin/cat" | tr '\n' ' ')" "seconda fileusr busybox "
unpacked file-over-directory
is "a file replaces a directory" "$(cat "$tree/old")" "now a file"
unpacked deep-links
unpacked pax-long
is "long names of pax" "$(find "$tree/usr" -type f -exec cat {} +)" pax
unpacked gnu-long
is "long names of GNU tar" "$(find "$tree/usr" -type f -exec cat {} +)" gnu
unpacked in-dev
never "a linked /dev is the box's own" "$(box sh -c 'echo BEGAN; ls /dev; cat /dev/file')" whole
unpacked own-links
is "links in place of its own directories" "$(box sh -c 'echo x >/tmp/x; echo y >/home/box/y; cat /tmp/x /home/box/y; cat /etc/hosts' | tr '\n' ' ')" "x y 127.0.0.1 localhost ::1 localhost 127.0.0.1 box "
is "the canary is whole" "$(sum)" "$before"
done_testing
