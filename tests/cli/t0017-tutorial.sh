#!/bin/sh
# docs/tutorial.md, typed as it stands: each command, and what is shown below it is what comes.
# shellcheck disable=SC2016,SC2088
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
watched
elsewhere cordon-tutorial
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
mkdir -p "$D/home/bin" && ln -s "$CORDON" "$D/home/bin/cordon"
cat >"$D/home/bin/typed" <<'END'
cd "$1" || exit 99
eval "$2"
code=$?
pwd >"$HOME/where"
exit $code
END
as_reader() { env HOME="$D/home" PATH="$D/home/bin:$PATH" "$@"; }
# plain: ids of runs and approvals, and this reader's home, as the tutorial has them
plain() { sed -E "s,$D/home,/home/alice,g; s/[0-9]+-[0-9a-f]+-[0-9a-f]{4,16}/4711-.../g; s/approve [0-9a-f]{12}$/approve 4711-.../; s/policy [0-9a-f]{12}$/policy 4711.../"; }
shown() { awk -v c="\$ $1" '$0 == c { on = 1; next } /^(\$ |```)/ { on = 0 } on' "$repo/docs/tutorial.md"; }
sed -n 's/^\$ //p' "$repo/docs/tutorial.md" | grep -n . >"$T/typed"
ok "the tutorial has commands" test "$(wc -l <"$T/typed")" -ge 20
echo "$D/home" >"$D/home/where"
applies=0
while read -r line <&3; do
        nth=${line%%:*} line=${line#*:}
        answered=
        if [ "$line" = "cordon apply" ] && [ $((applies += 1)) -eq 2 ]; then
                # The person in the other terminal.
                run=$(as_reader "$CORDON" ledger --json --kind start | jq -r .run | tail -n 1)
                as_reader python3 "$here/helpers/approver.py" --tty --run "$run" --wait 1 yes >"$T/answer" 2>&1 &
                answered=$!
        fi
        name="$nth: $(printf '%s' "$line" | cut -d ' ' -f 1-2)"
        want=$(shown "$line")
        [ "$line" != "cordon apply" ] || want=$(echo "$want" | if [ $applies -eq 1 ]; then head -n 1; else tail -n 2; fi)
        out=$(as_reader sh "$D/home/bin/typed" "$(cat "$D/home/where")" "$line" 2>&1 </dev/null)
        out=$(printf '%s\n' "$out" | plain)
        [ -z "$answered" ] || wait "$answered"
        # Denied lookups are reported where /dev/fuse can be opened: then the whole of what is shown comes.
        case $line in
        "cordon run "*report.py*) test -w /dev/fuse || { skip "$name" "/dev/fuse is not for this user" && continue; } ;;
        "cordon learn "*) is "$name" "$(test -s "$(cat "$D/home/where")/report.cordon" && echo written)" written && continue ;;
        esac
        is "$name" "$out" "$want"
done 3<"$T/typed"
is "every file that docs/README.md links to is there" "$(grep -oE '\]\([^)]+\)' "$repo/docs/README.md" | tr -d '()]' | while read -r f; do [ -e "$repo/docs/$f" ] || echo "$f"; done)" ""
is "and it names every document" "$(cd "$repo/docs" && for f in *.md; do [ "$f" = README.md ] || grep -q "]($f)" README.md || echo "$f"; done)" ""
done_testing
