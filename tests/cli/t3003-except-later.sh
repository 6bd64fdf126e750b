#!/bin/sh
# What an `except` hides stays closed when somebody outside makes it anew, replaces it or moves it while the box runs: a mount
# alone is gone with the file that it covers.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
elsewhere cordon-except
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
cd "$T" || exit 1
root() { "$@"; }

# What is read at first; then, when the file `go` comes, once more.
cat >"$T/look" <<'END'
look() { for f in .env token deep/down/key deep/beside later/key a deep/b deep/down/c sub/d new; do printf '%s=%s ' $f "$(cat $f 2>/dev/null)"; done; echo; }
look
until [ -e sub/go ]; do sleep 0.05; done
look
ls -A
END
# while_it_runs WHO OPTION... -- SCRIPT: what the box saw before and after the script ran outside
while_it_runs() {
        for last; do :; done
        who=$1
        shift
        rm -rf "$D/x" "$T/seen"
        mkdir -p "$D/x/deep/down" "$D/x/sub"
        (cd "$D/x" && for f in .env token deep/down/key; do echo SECRET >$f; done && for f in deep/beside a deep/b deep/down/c sub/d; do echo open >$f; done)
        chmod -R a+rX "$D"
        [ "$(id -u)" -ne 0 ] || [ "$who" = root ] || chown -R 65533:65533 "$D"
        printf 'use base/system\nread %s except .env token deep/down/key later/key\nwall %s\n' "$D/x" "$wall" >p.policy
        (cd "$D/x" && $who "$CORDON" run -q --time 60s -p "$T/p.policy" -- sh -c "$(cat "$T/look")" >"$T/seen" 2>"$T/err" </dev/null) &
        box=$!
        soon grep -q new= "$T/seen" # the last that it looks at
        (cd "$D/x" && sh -c "$last" && touch sub/go)
        wait $box
}
before=".env= token= deep/down/key= deep/beside=open later/key= a=open deep/b=open deep/down/c=open sub/d=open new= "
for each in root:namespace as_user:namespace root:process as_user:process; do
        who=${each%:*} wall=${each#*:}
        while_it_runs $who -- 'for f in .env token deep/down/key; do echo SECRET >.t && mv .t $f; done'
        is "$each: at first what is excepted is empty, and the rest is there" "$(sed -n 1p "$T/seen")" "$before"
        is "$each: replaced by a rename: closed" "$(sed -n 2p "$T/seen")" "$before"
        while_it_runs $who -- 'rm -r .env token deep/down/key && echo SECRET >.env && mkdir token && echo SECRET >token/x && echo SECRET >deep/down/key'
        is "$each: removed and made anew: closed" "$(sed -n 2p "$T/seen")" "$before"
        while_it_runs $who -- 'mkdir later && echo SECRET >later/key'
        is "$each: what was not there before: closed" "$(sed -n 2p "$T/seen")" "$before"
        while_it_runs $who -- 'mv deep old && mkdir -p deep/down && echo SECRET >deep/down/key'
        hasnt "$each: with another directory that leads to it: closed" "$(sed -n 2p "$T/seen")" SECRET
        while_it_runs $who -- 'mv .env a.old && cp -r deep deep2 && mv deep2/down/key new'
        is "$each: moved away: closed" "$(sed -n 2p "$T/seen")" "$(echo "$before")"
        # The price, as the manual has it: in those directories, and in no others, what comes later is not read.
        while_it_runs $who -- 'echo later >new && echo later >sub/d && echo later >sub/.t && mv sub/.t sub/d && echo changed >a'
        has "$each: a new file beside an except cannot be read" "$(sed -n 2p "$T/seen")" "new= "
        has "$each: its name is seen" "$(sed 1,2d "$T/seen" | paste -s -d ' ')" "new"
        has "$each: elsewhere it can" "$(sed -n 2p "$T/seen")" "sub/d=later"
        has "$each: one that was there is read as it is now" "$(sed -n 2p "$T/seen")" "a=changed"
done
# Without a cover of its own the process wall hides files, and says what it does not.
mkdir -p "$D/x/token.d" && ln -s deep "$D/x/link" && ln -s a "$D/x/other"
for sub in token.d:"is a directory, whose names could be listed" link/b:"is, or lies behind, a symbolic link" other:"is a symbolic link"; do
        printf 'use base/system\nread %s except %s\nwall process\n' "$D/x" "${sub%%:*}" >q.policy
        has "the process wall says that it cannot hide ${sub%%:*}" "$("$CORDON" run -q -p q.policy -- echo RAN 2>&1 </dev/null)" "${sub#*:}"
done
printf 'use base/system\nread %s except b\nwall process\n' "$D/x/link" >q.policy
has "nor behind a door that is a link" "$("$CORDON" run -q -p q.policy -- cat "$D/x/deep/b" 2>&1 </dev/null)" "is, or lies behind, a symbolic link"
# What it takes out of a door is refused as what no door opens is: told, and beside it nothing else.
mkdir "$D/told" && echo SECRET >"$D/told/.env" && echo a >"$D/told/a" && chmod -R a+rX "$D/told"
printf 'use base/system\nread %s except .env\nwall process\n' "$D/told" >q.policy
for observe in denials all; do
        is "a refusal of it is told ($observe)" "$("$CORDON" run -q --json --observe $observe -p q.policy -- sh -c "cat $D/told/a $D/told/.env" 2>&1 >/dev/null </dev/null | tail -n 1 | jq -c --arg d "$D" '[.denials[] | select(.path | startswith($d)) | [.path[($d | length):], .layer, .minor]]')" '[["/told/.env","landlock",false]]'
done
# A link that leads a run line, or the command, to it opens it behind neither wall.
printf '#!/bin/cat\nSECRET\n' >"$D/told/tool" && chmod 755 "$D/told/tool" && mkdir "$D/links" && ln -s ../told/tool "$D/links/tool"
for wall in namespace process; do
        printf 'use base/system\nread %s except tool\nrun %s sh cat\nwall %s\n' "$D/told" "$D/links/tool" $wall >q.policy
        is "$wall: what is excepted is no run line by a link" "$("$CORDON" run -q -p q.policy -- sh -c "cat $D/told/a $D/told/tool $D/links/tool" 2>/dev/null </dev/null)" a
        is "$wall: nor the command" "$(sed -i /^run/d q.policy; "$CORDON" run -q -p q.policy -- "$D/links/tool" 2>/dev/null </dev/null)" ""
        is "$wall: by its own name it is" "$(echo "run $D/told/tool sh cat" >>q.policy; "$CORDON" run -q -p q.policy -- sh -c "cat $D/told/tool" 2>/dev/null </dev/null | tail -n 1)" SECRET
done
printf 'use base/system\nread %s except .env token deep/down/key later/key\n' "$D/x" >p.policy
is "why tells so" "$(cd / && "$CORDON" why -p "$T/p.policy" read "$D/x/later/key" | grep -c 'it would be seen and not be read')" 1
is "and where Landlock is given up" "$({ cat p.policy; echo 'wall namespace without landlock'; } >q.policy; "$CORDON" why -p q.policy read "$D/x/later/key" | grep -c 'it would not be seen')" 1

# What leads to a hidden name need not be a directory, nor one that we may list: the box starts, and nothing is shown.
mkdir -p "$D/odd/closed" && echo file >"$D/odd/a" && echo SECRET >"$D/odd/closed/key" && chmod 711 "$D/odd/closed" && chmod 755 "$D/odd" && chmod a+r "$D/odd/a" "$D/odd/closed/key"
printf 'use base/system\nread %s except a/key closed/key\n' "$D/odd" >p.policy
is "a file on the way is read, and what we may not list is closed" "$(as_user "$CORDON" run -q -p p.policy -- sh -c "cat $D/odd/a $D/odd/closed/key" 2>/dev/null)" file

# Many names: each has a rule of its own; too many stop the start.
mkdir "$D/many" && (cd "$D/many" && seq 5000 | xargs touch) && echo SECRET >"$D/many/key"
chmod -R a+rX "$D/many"
printf 'use base/system\nread %s except key\n' "$D/many" >p.policy
is "among 5,000 names it is hidden, and they are not" "$("$CORDON" run -q -p p.policy -- sh -c "cat $D/many/4711 $D/many/key && echo read" 2>&1)" "read"
(cd "$D/many" && seq 5001 65600 | xargs touch) && chmod -R a+rX "$D/many"
is "among 65,600 it is not, and nothing starts" "$("$CORDON" run -q -p p.policy -- echo RAN 2>&1 | grep -o -e RAN -e 'hiding something among more than 65536 names')" "hiding something among more than 65536 names"
# A base that runs what lies below /usr, beside what is written there: seen in mounts of the test's own.
if [ "$(id -u)" -eq 0 ]; then
        mkdir "$D/many/w"
        is "nor behind the process wall, beside what is written, and the advice is about that" \
                "$(unshare -m sh -c 'mount --bind "$1" /usr/local && exec "$CORDON" run -q --wall process --use base/strict --write /usr/local/w -- echo RAN' sh "$D/many" 2>&1 |
                        grep -o -e RAN -e 'keeping from running' -e 'fewer names beside it')" "keeping from running
fewer names beside it"
else
        skip "nor behind the process wall, beside what is written" "needs root to mount"
fi
done_testing
