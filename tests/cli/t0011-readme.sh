#!/bin/sh
# README.md, followed as it stands: every command of its console blocks is taken from it and typed, as root and as an ordinary
# user, and what it shows is what comes. A command that nobody here knows is a failure: then README.md grew.
# shellcheck disable=SC2016,SC2088
. "$(dirname "$0")/lib.sh"
repo=$(cd "$(dirname "$0")/../.." && pwd)
# The box has a /tmp of its own, so the reader's home lies elsewhere.
watched
elsewhere cordon-readme
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
root() { "$@"; }
whos="root as_user"
[ "$(id -u)" -eq 0 ] || whos=root
sed -n 's/^\$ //p' "$repo/README.md" | sed 's/  *#.*//' >"$T/typed"
ok "README.md has commands" test "$(wc -l <"$T/typed")" -ge 20

# A project and a home, new for each reader.
prepare() {
        H=$D/$1
        mkdir -p "$H/.ssh" "$H/p" "$H/bin" && echo KEY >"$H/.ssh/id_rsa" && cp "$H/.ssh/id_rsa" "$H/.ssh/id_ed25519"
        cd "$H/p" || exit 1
        ln -s "$CORDON" "$H/bin/cordon"
        printf 'all: build/t\nbuild/t:\n\tcp /bin/true build/t\ncheck: build/t\n\tbuild/t && echo checked\n' >Makefile
        printf '#!/bin/sh\necho configured\n' >configure && cp configure tool && chmod 755 configure tool
        echo 'echo installed' >install.sh
        echo 'print(open("data").read())' >job.py && echo content >data
        printf 'use base/system\nread {work}\nwrite {work}/build\nread /usr/share/doc?\nexpect deny read {home}/.ssh\n' >wide.cordon
        echo SECRET >.env
        awk '/^box    tests/, /^```$/ { if ($0 != "```") print }' "$repo/README.md" >tests.cordon
        echo 'echo tidied >>data; mkdir -p .git/hooks; echo x >.git/hooks/pre-commit' >agent
        [ "$1" = root ] || chown -R 65533:65533 "$H"
}
# typed COMMAND: as the reader types it; $out, $code
typed() {
        out=$($who env HOME="$H" PATH="$H/bin:$PATH" sh -c "$1" 2>&1 </dev/null)
        code=$?
}
passes() { typed "$2"; if [ "$code" -eq 0 ]; then pass "$who: $1"; else fail "$who: $1" "status $code" "$out"; fi; }
# shown COMMAND: what README.md shows below it, in this reader's home
shown() { awk -v c="\$ $1" 'index($0, c) == 1 { on = 1; next } /^(\$ |```|  \.\.\.)/ { on = 0 } on' "$repo/README.md" | sed "s,/home/alice,$H,g"; }

for who in $whos; do
        prepare "$who"
        run=none
        while read -r line <&3; do
                case $line in
                "cordon run -- cat ~/.ssh/id_rsa" | "cordon learn "*)
                        # Hidden paths are told, and learned, where /dev/fuse can be opened; README.md says so.
                        if ! $who test -w /dev/fuse; then
                                skip "$who: $line" "/dev/fuse is not for this user"
                                continue
                        fi ;;
                esac
                case $line in
                *"print(6*7)"*) typed "$line" && is "$who: $line" "$out" "$(shown "$line")" ;;
                "cordon run -- cat ~/.ssh/id_rsa") typed "$line"; is "$who: $line" "$out" "$(shown "$line")" ;;
                "cordon run -- curl https://example.com")
                        if [ ! -x /usr/bin/curl ]; then skip "$who: $line" "no curl"; continue; fi
                        typed "$line"
                        has "$who: $line" "$(printf '%s\n' "$out" | grep -v '^ *%\|^  *[0-9]')" "$(shown "$line")" ;;
                "cordon run --image tool.tar -- tool --version")
                        if ! command -v busybox >/dev/null; then skip "$who: $line" "no busybox"; continue; fi
                        python3 "$repo/tests/cli/helpers/image.py" tool tool.tar
                        typed "$line"; has "$who: $line" "$out" "tool 1.0" ;;
                "cordon shell --edit .") passes "$line" "$line" ;;
                "cordon session "*) passes "$line" "$(echo "$line" | sed "s/ dev/ dev$$/g")" ;; # the name is one of the host
                "cordon run --script install.sh") typed "$line"; is "$who: $line" "$out" installed ;;
                "cordon run --read . -- make -n") passes "$line" "$line" ;;
                "cordon run --read . --write ./build -- make") passes "$line" "$line"; ok "$who: it is made, in a directory that was not there" test -x build/t ;;
                *"./configure") typed "$line"; is "$who: $line" "$out" configured ;;
                *"--net "*) passes "the doors of $line" "$(echo "$line" | sed 's/cordon run/cordon run --plan/')" ;;
                "cordon why read ~/.ssh/id_ed25519") typed "$line"; is "$who: $line" "$code $(printf '%s' "$out" | head -n 1)" "1 deny   read $H/.ssh/id_ed25519" ;;
                "cordon doors --read . --write ./build") passes "$line" "$line"; has "$who: it tells the worst" "$out" "hostile" ;;
                "cordon learn "*) passes "$line" "$line"; ok "$who: and the policy runs it" $who env HOME="$H" "$CORDON" run -q -p job.cordon -- python3 job.py ;;
                "cordon policy tighten "*) typed "$line"; has "$who: $line" "$out" "not needed: read /usr/share/doc?" ;;
                "cordon policy fit "*) typed "$line"; has "$who: $line" "$out" "not enough runs" ;; # tighten runs boxes of its own
                "cordon policy wrap "*)
                        # pdftotext need not be here: the same with a tool that is
                        passes "$line" "$(echo "$line" | sed 's/pdftotext/wc/g')"
                        is "$who: and the script runs it" "$($who env HOME="$H" "$H/bin/wc" -l data)" "1 data" ;;
                "cordon policy new resize an image") passes "$line" "$line"; has "$who: a policy" "$out" "box " ;;
                "cordon check tests.cordon && "*) rm -f build/t; passes "$line" "$line"; has "$who: it ran what it built" "$out" checked ;;
                *some-agent*)
                        typed "$(echo "$line" | sed 's/some-agent "tidy up"/sh agent/')"
                        run=$(printf '%s\n' "$out" | sed -n 's/.*cordon apply \([^ ]*\)$/\1/p')
                        is "$who: what an agent did is held back" "$(printf '%s' "$out" | sed "s/$run/4711-.../g; s/[0-9]* changes/14 changes/; s/[0-9]* flagged/1 flagged/")" "$(shown "$line" | sed 's/ \{2,\}#.*//')" ;;
                "cordon diff") typed "$line"; has "$who: diff shows hooks first" "$(printf '%s\n' "$out" | head -n 3)" "! .git/" ;;
                "cordon apply")
                        typed "$line"
                        is "$who: it lands" "$(tail -n 1 data)" tidied
                        ok "$who: but for what is flagged" test ! -e .git/hooks/pre-commit
                        passes "undo takes it back" "cordon undo"
                        is "$who: all of it" "$(cat data)" content
                        passes "discard drops it" "cordon discard $run" ;;
                "cordon ledger show my-box") typed "cordon run -q --name my-box -- cat /etc/hostname"; passes "$line" "$line" ;;
                "cordon ledger trace --back ID")
                        id=$($who env HOME="$H" "$CORDON" ledger --json --box my-box --kind end | jq -r .id | tail -n 1)
                        passes "$line" "cordon ledger trace --back $id" ;;
                "cordon ledger verify && "*) passes "$line" "$line"; ok "$who: and the page is there" test -s run.html ;;
                *) fail "$who: nobody here knows this command of README.md" "$line" ;;
                esac
        done 3<"$T/typed"
done
# A reader in an empty directory: what cannot work there says why in words, and no line hangs, is silent or leaves a file.
for who in $whos; do
        H=$D/empty-$who
        mkdir -p "$H/p" "$H/bin" && cd "$H/p" || exit 1
        ln -s "$CORDON" "$H/bin/cordon"
        [ "$who" = root ] || chown -R 65533:65533 "$H"
        bad=''
        while read -r line <&3; do
                typed "timeout -k 5 60 sh -c '$(echo "$line" | sed "s/'/'\\\\''/g; s/ dev/ gone$$/g")'"
                case $code in
                0) ;;
                124) bad="$bad [hangs: $line]" ;;
                *) [ -n "$out" ] || bad="$bad [silent: $line]" ;;
                esac
        done 3<"$T/typed"
        $who env HOME="$H" "$CORDON" session end "gone$$" >/dev/null 2>&1
        is "$who: in an empty directory no line hangs or is silent" "$bad" ""
        is "$who: nor leaves a file but the report" "$(find . -mindepth 1 ! -name run.html)" ""
done
# Words in the text that are commands, too.
bad=''
for verb in $(grep -oE '`cordon [a-z-]+' "$repo/README.md" | cut -d ' ' -f 2 | sort -u); do "$CORDON" help "$verb" >/dev/null 2>&1 || bad="$bad $verb"; done
is "every verb that README.md names is there" "$bad" ""
is "every file that README.md links to is there" "$(grep -oE '\]\([^)]+\)' "$repo/README.md" | tr -d '()]' | while read -r f; do [ -e "$repo/$f" ] || echo "$f"; done)" ""
is "every page of the manual that it names is there" "$(grep -oE '`man [0-9a-z .-]+`' "$repo/README.md" | tr -d '\140' | while read -r _ a b; do ls "$repo"/man/"${b:-$a}".[1-8] >/dev/null 2>&1 || echo "${b:-$a}"; done)" ""
has "the wall vm is never quietly left out" "$("$CORDON" run --wall vm -- true 2>&1)" "is not implemented"
has "nor is the wall wasm" "$("$CORDON" run --wall wasm -- true 2>&1)" "behind the wasm wall the command is a file"
done_testing
