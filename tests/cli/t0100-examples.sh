#!/bin/sh
# The examples and the demonstration do what their READMEs say, as root and as an ordinary user.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
repo=$(cd "$(dirname "$0")/../.." && pwd)
: "${BUILD:=$repo/build}"
# Where every user can read them; the programs that use libcordon find it beside them.
cp -r "$repo/examples" "$T/examples" && chmod -R a+rX "$T/examples"
mkdir -p "$T/build/examples" && cp -L "$BUILD/libcordon.so.1" "$T/build/" &&
        cp "$BUILD/examples/risky-parser" "$BUILD/examples/parse-record" "$T/build/examples/"
chmod -R a+rX "$T/build"
E=$T/examples
root() { "$@"; }
# example WHO NAME [ARGUMENT...]: runs it from elsewhere; $out, $code.
example() {
        who=$1 name=$2
        shift 2
        out=$(cd / && $who env CORDON="$CORDON" BUILD="$T/build" LD_LIBRARY_PATH="$T/build" sh "$E/$name" "$@" 2>&1 </dev/null)
        code=$?
}

# shows WHO NAME FIRST: every line of the block of its README that begins with FIRST is a line of $out; ... is anything. Hidden
# paths are told where /dev/fuse can be opened.
shows() {
        missing=
        awk -v first="    $3" 'index($0, first) == 1 { on = 1 } on && !/^    / { exit } on { print substr($0, 5) }' "$E/$2/README.md" >"$T/block"
        $1 test -w /dev/fuse || sed -i '/^refused: read/d' "$T/block"
        while IFS= read -r line; do
                line=$(printf '%s' "$line" | sed 's/[].*^$[]/\\&/g; s/\\\.\\\.\\\./.*/g')
                printf '%s\n' "$out" | grep -qx -e "$line" || missing="$missing$line; "
        done <"$T/block"
        missing=$missing$(printf '%s\n' "$out" | grep '^refused: ' | grep -vxF -f "$T/block")
        is "$1: $2 prints what its README shows" "$(wc -l <"$T/block" | sed 's/^[0-4]$/too few lines/; s/^[0-9]*$//')$missing" ""
}

# A temporary directory of its own: what others leave is not counted.
mkdir -m 1777 "$T/tmp" && TMPDIR=$T/tmp && export TMPDIR
for who in root as_user; do
        example "$who" two-in-the-morning/demo
        is "$who: the demonstration ends with 0" "$code" 0
        is "$who: it fits on one screen: lines" "$(printf '%s\n' "$out" | awk 'END { print (NR <= 24) ? "yes" : NR }')" yes
        is "$who: it fits on one screen: columns" "$(printf '%s\n' "$out" | awk 'length > 80 { print }')" ''
        has "$who: without a box the key leaks" "$out" 'the collector has the key'
        has "$who: in a box the key file does not exist" "$out" 'read ~/.aws/credentials      refused: No such file or directory'
        has "$who: the variable does not, either" "$out" 'refused: there is no such variable'
        has "$who: the POST is refused" "$out" 'refused: Address family not supported by protocol'
        has "$who: what was blocked is listed" "$out" 'cordon: blocked: network by python3 (no net door)'
        is "$who: why answers" "$(printf '%s\n' "$out" | grep -c "denied by")" 1
        has "$who: the record leads from the refusal to the ticket" "$out" "<- read ticket.txt"
        has "$who: the honest work is done" "$out" 'honest work                  4711: the login page takes nine seconds'
        has "$who: and it says so" "$out" 'The collector got nothing'
        is "$who: no colour where there is no terminal" "$(printf '%s' "$out" | tr -dc '\033' | wc -c)" 0

        if [ -x "$CORDON_LIBEXEC/cordon-vault" ]; then
                example "$who" two-in-the-morning/night
                is "$who: the night with a token ends with 0" "$code" 0
                is "$who: it fits on one screen, too" "$(printf '%s\n' "$out" | awk 'length > 80 { print } END { if (NR > 24) print NR }')" ''
                is "$who: three of seven steps are refused" "$(printf '%s\n' "$out" | grep -c 'refused: ')" 3
                has "$who: no sentence is cut" "$(printf '%s' "$out" | tr -s ' \n' ' ')" "by python3 (secret removed from the response)"
                has "$who: and the work is done" "$out" 'honest work: a comment   done, 201'
        else
                skip "$who: the night with a token" "cordon-vault is not built here: it needs OpenSSL"
        fi

        example "$who" run-script/run
        is "$who: run-script ends with 0" "$code" 0
        has "$who: the script does its work" "$out" 'fox.txt: 9 words'
        has "$who: it cannot write there" "$out" 'write beside the data: Read-only file system'
        has "$who: it finds no key" "$out" ': No such file or directory'
        has "$who: it has no network" "$out" 'call home: Address family not supported'
        shows "$who" run-script fox.txt

        example "$who" resize-image/run
        is "$who: resize-image ends with 0" "$code" 0
        has "$who: the picture is resized" "$out" '64x48 -> 32x24'
        has "$who: through descriptors, and leaves the box" "$out" '9270 bytes in, 2358 bytes out'
        is "$who: no path at all can be opened" "$(printf '%s\n' "$out" | grep -c '^open .*: No such file or directory$')" 5
        hasnt "$who: really none" "$out" 'it can'
        shows "$who" resize-image "open ..."
        has "$who: it can start no second process" "$($who "$CORDON" doors "$E/resize-image/resize.policy")" 'of disk and 1 process, and print'

        example "$who" risky-parser/run
        is "$who: risky-parser ends with 0" "$code" 0
        has "$who: good input is parsed" "$out" 'record: world'
        has "$who: a good end is told" "$out" 'the parser exited (0); walls: namespace, probed from inside'
        has "$who: a crash is told" "$out" 'the parser was killed by a signal (11)'
        has "$who: the refused socket is in the result" "$out" 'refused: socket(AF_INET, SOCK_STREAM) by seccomp (parse-record)'
        hasnt "$who: nothing after the crash is parsed" "$out" never
        is "$who: the parent lives on" "$(printf '%s\n' "$out" | grep -c 'this program goes on')" 2
        shows "$who" risky-parser "record: "

        example "$who" blocklist-vs-allowlist/run
        is "$who: blocklist-vs-allowlist ends with 0" "$code" 0
        has "$who: the blocklist leaks what it forgot, the allowlist nothing" "$out" 'leaked: 2 through the blocklist, 0 through the allowlist'
        shows "$who" blocklist-vs-allowlist "the attack tries"
        has "$who: both let the job be done" "$out" 'read: sales are up             read: sales are up'
        is "$who: nothing is left in the temporary directory" "$(ls -A "$TMPDIR")" ''
done

# It counts mounts: in a mount namespace of its own, where those of other tests are not seen to come and go.
alone=root
! unshare -m true 2>/dev/null || alone="unshare -m"
example "$alone" risky-parser/run 1000
is "a thousand crashing children leave nothing behind" "$out" '1000 of 1000 crashed; left behind: 0 descriptors, no child, 0 mounts'
is "and that is its status" "$code" 0

# The demonstration is no theatre: with a program in cordon's place that opens the doors, it fails.
printf '#!/bin/sh\n[ "$1" = run ] || exit 1\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n' >"$T/no-box" && chmod 755 "$T/no-box"
out=$(CORDON=$T/no-box sh "$E/two-in-the-morning/demo" 2>&1)
is "the demonstration fails when nothing is refused" $? 1
hasnt "and does not claim otherwise" "$out" 'The collector got nothing'
printf '#!/bin/sh\n[ "$1" = run ] || exit 0\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n' >"$T/no-box" && chmod 755 "$T/no-box"
out=$(CORDON=$T/no-box GITHUB_TOKEN=ghp_something sh "$E/two-in-the-morning/night" 2>&1)
is "and so does the night" $? 1
hasnt "without claiming otherwise" "$out" 'The collector got nothing'

for f in "$repo"/examples/*/; do
        name=$(basename "$f")
        ok "$name has a README of at most 30 lines" test "$(wc -l <"$f/README.md" 2>/dev/null || echo 99)" -le 30
done
for f in "$repo"/examples/*/*.policy; do
        ok "$(basename "$f") loads" "$CORDON" check "$f"
done
done_testing
