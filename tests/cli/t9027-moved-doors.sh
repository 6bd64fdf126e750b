#!/bin/sh
# Whatever moved since a box was parked, no run gets a box of an older plan: its client looks at every door itself.
# shellcheck disable=SC2016,SC2034,SC2154,SC2317,SC3045
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-serve.sh"
if ! "$CORDON" run -q --wall namespace -- true 2>/dev/null; then
        skip "doors that moved" "no namespace wall here"
        done_testing
fi
elsewhere moved
trap 'code=$?; for p in $pids; do kill "$p" 2>/dev/null; done; rm -rf "$T" "$D" "$D.was"; exit $code' EXIT
who="" rt=$T/rt
mkdir -m 700 "$rt"
are_ready() { [ "$(run serve pool stats --json 2>/dev/null | jq .parked)" = "$1" ]; }
# again NAME WANT COMMAND...: what a run prints, and how it started
again() {
        name=$1 want=$2
        shift 2
        soon are_ready 2
        got=$($in env XDG_RUNTIME_DIR="$rt" timeout -k 5 60 "$CORDON" run --json -p "$D/p.cordon" -- "$@" 2>"$T/json" </dev/null)
        is "$name" "$got $(tail -n 1 "$T/json" | jq -r .start)" "$want"
}
in=""
policy() { { printf 'box moved\nuse base/system\n' && printf 'read %s\n' "$@"; } >"$D/p.cordon"; }
mkdir "$D/door" "$D/other" && echo one >"$D/door/file" && echo two >"$D/other/file"
policy "$D/door"
serve
run serve pool add --size 2 -p "$D/p.cordon" >/dev/null

again "a run gets a parked box" "one parked" cat "$D/door/file"
again "and one with other arguments" "one parked" cat "$D/door/file" /dev/null
soon are_ready 2
reports() { run run --pool "$1" -p "$D/p.cordon" -- cat "$D/other/file" /etc/shadow 2>&1; echo $?; }
is "it reports what a cold one does" "$(reports require)" "$(reports off)"
again "what it leaves running ends with it" "left parked" sh -c 'sleep 2718281 & echo left'
is "at its end" "$(grep -lz '^271828[1]$' /proc/[0-9]*/cmdline 2>/dev/null)" ""

mv "$D/door" "$D/was" && ln -s other "$D/door"
again "a door that became a link" "two cold" cat "$D/door/file"
rm "$D/door" && cp -r "$D/other" "$D/door"
again "a directory in its place" "two cold" cat "$D/door/file"
rm -r "$D/door"
again "a door that is gone" " null" cat "$D/door/file"
mv "$D/was" "$D/door"
again "the same one again" "one parked" cat "$D/door/file"
echo three >"$D/door/file"
again "what is behind a door may change" "three parked" cat "$D/door/file"
mv "$D" "$D.was" && ln -s "$D.was" "$D"
again "a link on the way to it" "three cold" cat "$D/door/file"
rm "$D" && mv "$D.was" "$D"

policy "$D/door" "$D/other"
again "a door more" "two cold" cat "$D/other/file"
policy "$D/other"
again "another door" "two cold" cat "$D/other/file"
policy "$D/door"
again "the policy as it was" "three parked" cat "$D/door/file"
printf 'limit memory 77M\n' >>"$D/p.cordon"
again "another limit" "three cold" cat "$D/door/file"
policy "$D/door"
got=$(umask 077; how -p "$D/p.cordon" -- cat "$D/door/file")
has "another umask" "$got" "cold "
if unshare -m true 2>/dev/null; then
        cat >"$T/mounted" <<S
#!/bin/sh
mount --bind "$D/other" "$D/door" && exec "\$@"
S
        chmod 755 "$T/mounted"
        in="unshare -m $T/mounted"
        again "a mount that only its client sees" "two cold" cat "$D/door/file"
        in=""
else
        skip "a mount that only its client sees" "no mount namespace of its own"
fi
done_testing
