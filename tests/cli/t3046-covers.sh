#!/bin/sh
# What covers a name (an `except`, a label with `rule touch`, cordon's own state and key) holds whatever a process outside does to
# that name while the box runs, while it is parked, between two runs of a session: helpers/covers.py has the table.
# shellcheck disable=SC2016,SC2034,SC2154,SC2317
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-serve.sh"
root() { "$@"; }
here=$(cd "$(dirname "$0")" && pwd)
elsewhere cordon-covers
chmod 777 "$D"
trap 'code=$?; for p in $pids; do kill "$p" 2>/dev/null; done; remove "$T" "$D"; exit $code' EXIT
mkdir "$D/look" && cp "$here/helpers/covers.py" "$D/look/" && chmod -R a+rX "$D/look"
covers() { python3 -I "$D/look/covers.py" "$@"; }
look() { echo "until [ -e $D/look/go ]; do sleep 0.05; done; python3 -I $D/look/covers.py look $top"; }
# fresh LINE...: the trees of $who in $top, and their policy
fresh() {
        rm -rf "$top" "$D/look/go" "$T/seen"
        $who mkdir "$top"
        {
                printf 'use base/system\nrun any\nread %s\n' "$D/look"
                $who python3 -I "$D/look/covers.py" make "$top"
                printf '%s\n' "$@"
        } >"$T/d/p"
        chmod 644 "$T/d/p"
}
change() { $who python3 -I "$D/look/covers.py" change "$top" && touch "$D/look/go"; }
# Nothing that is excepted was read, nothing that is labelled without its label: LABELS
judged() { is "$which: every cover holds" "$(grep -v BEGAN "$T/seen" | covers judge "$1")" ""; }
unlabelled() { is "$which: every except holds, $1" "$(grep -e ' open/o ' -e ' [.]env ' -e ' token/' -e /key "$T/seen" | covers judge "" "$2")" ""; }
labelled() { covers stamps "$top" | while read -r file label; do $who "$CORDON" label add "$file" "$label" >/dev/null; done; }
plain() {
        $who "$CORDON" run -q --time 60s -p "$T/d/p" --status-fd 4 -- sh -c "echo BEGAN; $(look)" >"$T/seen" 4>"$T/status" 2>"$T/err" </dev/null &
        box=$!
        soon grep -q BEGAN "$T/seen"
        change
        wait $box
        judged "$(jq -r '.labels // ""' "$T/status")"
}
in_session() {
        id=$($who "$CORDON" session new -q -p "$T/d/p" 2>/dev/null | tail -n 1)
        is "$which: a run before" "$($who "$CORDON" session run "$id" -- cat "$top/rename/door/open/o" 2>/dev/null </dev/null)" open
        change
        $who "$CORDON" session run "$id" --json -- sh -c "$(look)" >"$T/seen" 2>"$T/status" </dev/null
        judged "$(tail -n 1 "$T/status" | jq -r '.labels // ""')"
        $who "$CORDON" session end "$id" >/dev/null 2>&1
}
# park [SED...]: fresh trees without labels, and a box for them
park() {
        fresh "$wall"
        sed -i -e '/ label /d' "$@" "$T/d/p"
        run serve pool add --size 1 -p "$T/d/p" >/dev/null 2>&1
        soon is_ready
}
is_ready() { [ "$(run serve pool stats --json 2>/dev/null | jq .parked)" -ge 1 ]; }
# Changed during the run of a box that was parked, and before it.
parked() {
        park
        run run -q --pool require --time 60s -p "$T/d/p" -- sh -c "echo BEGAN; $(look)" >"$T/seen" 2>"$T/err" &
        box=$!
        soon grep -q BEGAN "$T/seen"
        change
        wait $box
        unlabelled "during the run" 4
        run serve pool rm --all >/dev/null 2>&1
        park -e '/[/]link[/]/d' # a link in the place of what is excepted stops the start
        change
        run run -q -p "$T/d/p" -- sh -c "$(look)" >"$T/seen" 2>"$T/err"
        unlabelled "before it" 3
        has "$which: the box is not for this run" "$(how -p "$T/d/p" -- true)" "cold "
        run serve pool rm --all >/dev/null 2>&1
}

for who in root as_user; do
        rt=$T/rt.$who
        mkdir -m 700 "$rt"
        [ "$who" = root ] || [ "$(id -u)" -ne 0 ] || chown 65533:65533 "$T/d" "$rt"
        serve
        for row in "behind a door:$D/x:" "below /tmp:$T/d/x:" "without Landlock:$D/x:wall namespace without landlock" "behind the process wall:$D/x:wall process"; do
                top=${row#*:} && top=${top%%:*} wall=${row##*:} which="$who: ${row%%:*}"
                fresh 'rule touch' "$wall"
                case $wall in
                "wall process")
                        if ! $who "$CORDON" run -q --wall process -- true 2>/dev/null; then
                                skip "$which" "it cannot be raised here"
                                continue
                        fi
                        sed -i 's/ token / /' "$T/d/p" # a directory, which it refuses to hide
                        find "$top" -path '*/token*' -delete
                        ;;
                esac
                labelled
                plain
                [ "$wall" = 'wall process' ] && continue
                which="$which, session"
                fresh 'rule touch' "$wall"
                labelled
                in_session
                which="${which%, *}, parked" top=${top}2 # the files of the others are stamped by their paths
                parked
        done
done


# ---- a labelled file with a second name, behind another door ----
mkdir -p "$D/links/hr/deep" "$D/links/pub" && echo SECRET >"$D/links/hr/deep/a" && echo open >"$D/links/hr/b" && chmod -R a+rX "$D/links"
printf 'use base/system\nread %s/hr label private:hr\nread %s/pub\nrule touch\n' "$D/links" "$D/links" >"$T/d/p"
labels() { "$CORDON" run -q -p "$T/d/p" --status-fd 4 -- sh -c "$1" 4>"$T/status" >/dev/null 2>&1 </dev/null && jq -r '.labels // "none"' "$T/status"; }
is "a labelled directory without one labels no run that does not touch it" "$(labels true)" none
ln "$D/links/hr/deep/a" "$D/links/pub/a2"
is "a file in it that has one labels the run" "$(labels "cat $D/links/pub/a2")" private:hr
rm "$D/links/pub/a2"
is "and not when it is gone" "$(labels "ls $D/links/pub")" none
sed -i "s|^read $D/links/hr |read $D/links/hr/deep/a |" "$T/d/p" && ln "$D/links/hr/deep/a" "$D/links/pub/a2"
is "nor a labelled file that has one" "$(labels "cat $D/links/pub/a2")" private:hr

# ---- cordon's own state and the vault's key, also of a vault that is made meanwhile ----
# own CHANGE: what a box that reads the home sees after it
own() {
        remove "$H" "$D/look/go" "$T/seen" && mkdir -p "$H/.config/other" "$H/.local/state" "$H/open" && echo open >"$H/open/o"
        [ "$key" = absent ] || echo ghp_0123456789abcdefghij | at_home vault add first >/dev/null 2>&1 || fail "a vault is made"
        printf 'use base/system\nrun any\nread %s\nread %s\n' "$D/look" "$H${read:+/$read}" >"$T/d/p"
        at_home run -q --time 60s -p "$T/d/p" -- sh -c "echo BEGAN; until [ -e $D/look/go ]; do sleep 0.05; done; find $H -type f -exec cat {} + 2>/dev/null" >"$T/seen" 2>"$T/err" </dev/null &
        box=$!
        soon grep -q BEGAN "$T/seen"
        (cd "$H" && eval "$1") >/dev/null 2>&1
        touch "$D/look/go"
        wait $box
}
at_home() { env CORDON_STATE="$H/.local/state/cordon" XDG_CONFIG_HOME="$H/.config" "$CORDON" "$@"; }
for H in "$D/home" "$T/home"; do
        for read in '' .config; do
                for key in absent there; do
                        while read -r what; do
                                own "$what"
                                never "read ~/$read in ${H%/*}, key $key: $what" "$(tr -d '\0' <"$T/seen" | head -c 100000)" SECRET
                        done <<'END'
mkdir -p .config/cordon && echo SECRET >.config/cordon/.n && mv .config/cordon/.n .config/cordon/vault.key
rm -rf .config/cordon && mkdir -p .config/cordon && echo SECRET >.config/cordon/vault.key
mv .config .away && mkdir -p .config/cordon && echo SECRET >.config/cordon/vault.key
mv .local/state/cordon .local/away && mkdir -p .local/state/cordon/ledger && echo SECRET >.local/state/cordon/ledger/x
mv .local .away2 && mkdir -p .local/state/cordon/ledger && echo SECRET >.local/state/cordon/ledger/x
END
                done
        done
done

# ---- behind doors that write: a cover holds, or the box ends at once ----
# The box may make entries there, so no right and no entry can be fixed. CHANGE | behind `write` | behind `edit`
changed() { (cd "$H" && eval "$1") >/dev/null 2>&1; }
# begun WORD...: cordon WORD..., until it is told to look at the home
begun() {
        rm -f "$D/look/go" "$T/seen"
        at_home "$@" -- sh -c "echo BEGAN; until [ -e $D/look/go ]; do sleep 0.05; done; find $H -type f -exec cat {} + 2>/dev/null" >"$T/seen" 2>"$T/err" </dev/null &
        box=$!
        soon grep -q BEGAN "$T/seen"
}
# An overlay cannot lie in the tree that it changes: with an edit door the state is elsewhere.
state() { [ "$door" = edit ] && echo "$T/apart" || echo "$H/.local/state/cordon"; }
at_home() { env CORDON_STATE="$(state)" XDG_CONFIG_HOME="$H/.config" XDG_RUNTIME_DIR="$H/.runtime" "$CORDON" "$@"; }
home() {
        remove "$H" "$T/apart" && mkdir -p "$H/.config/other" "$H/.local/state" "$H/.runtime" "$H/open" && mkdir -m 700 "$T/apart" && echo open >"$H/open/o"
        chmod 700 "$H/.runtime"
        printf 'use base/system\nrun any\nread %s\n%s %s\n' "$D/look" "$door" "$H" >"$T/d/p"
}
ended() { # NAME: the box was stopped, said why, and had seen nothing
        code=0
        wait "$box" || code=$?
        is "$1: the box ends" "$code $(grep -c 'a process outside replaced, moved or made' "$T/err")" "125 1"
        never "$1" "$(tr -d '\0' <"$T/seen")" SECRET
}
H=$D/home
for door in write edit; do
        while IFS='|' read -r what written edited; do
                [ "$door" = write ] && want=$written || want=$edited
                [ "$want" ] || continue # nothing of cordon's lies there
                home
                begun run -q --time 30s -p "$T/d/p"
                changed "$what"
                if [ "$want" = ends ]; then
                        ended "$door ~: $what"
                        [ ! -d "$(state)/ledger" ] || is "$door ~: it is in the ledger" "$(at_home log --json --kind end | jq -rs '.[-1].more.stopped')" outside
                else
                        touch "$D/look/go"
                        ok "$door ~: $what: the box goes on" wait $box
                        never "$door ~: $what" "$(tr -d '\0' <"$T/seen")" SECRET
                fi
        done <<'END'
echo SECRET >.config/cordon/.n && mv .config/cordon/.n .config/cordon/vault.key|holds|holds
mv open .open; mkdir cordon state; mv cordon .config/other/; rmdir state|holds|holds
rm -rf .config/cordon && mkdir .config/cordon && echo SECRET >.config/cordon/vault.key|ends|ends
mv .config .away && mkdir -p .config/cordon && echo SECRET >.config/cordon/vault.key|ends|ends
mv .local/state/cordon .local/away && mkdir .local/state/cordon && echo SECRET >.local/state/cordon/x|ends|
mv .local .away && mkdir -p .local/state/cordon && echo SECRET >.local/state/cordon/x|ends|
mv .runtime .away && mkdir .runtime && mkdir .runtime/cordon|ends|ends
END
done
door='write'
home
id=$(at_home session new -q -p "$T/d/p" 2>/dev/null | tail -n 1)
begun session run "$id"
changed 'mv .config .away && mkdir -p .config/cordon && echo SECRET >.config/cordon/vault.key'
ended "a session"
ok "and the session is over" soon sh -c '! "$1" session ls 2>/dev/null | grep -q "$2"' sh "$CORDON" "$id"
home
at_home serve >"$T/said" 2>&1 </dev/null &
shell=$!
soon grep -q ready "$T/said"
pids="$pids $(pgrep -P $shell) $shell"
at_home serve pool add --size 1 -p "$T/d/p" >/dev/null 2>&1 </dev/null
ok "a box is parked" soon sh -c '[ "$(env XDG_RUNTIME_DIR="$1" "$2" serve pool stats --json | jq .parked)" = 1 ]' sh "$H/.runtime" "$CORDON"
begun run -q --pool require --time 30s -p "$T/d/p"
changed 'mv .config .away && mkdir -p .config/cordon && echo SECRET >.config/cordon/vault.key'
ended "a run in a parked box"

# ---- in an image, whose directories have rights of their own ----
busybox=$(command -v busybox) && file -L "$busybox" | grep -q static || {
        skip "in an image" "no static busybox (package busybox-static)"
        done_testing
}
up=${D#/} && mkdir -p "$D/image/bin" "$D/image/${up%%/*}" "$D/data" && cp "$busybox" "$D/image/bin/sh" && echo SECRET >"$D/data/.env"
rm -f "$D/look/go"
printf 'root %s\nread %s\nread %s except .env\n' "$D/image" "$D/look" "$D/data" >"$T/d/p"
"$CORDON" run -q --time 60s -p "$T/d/p" -- sh -c "echo BEGAN; until [ -e $D/look/go ]; do sleep 0; done; read -r a <$D/data/.env; echo \$a; ls $D/data" >"$T/seen" 2>"$T/err" </dev/null &
box=$!
soon grep -q BEGAN "$T/seen"
echo SECRET >"$D/data/.n" && mv "$D/data/.n" "$D/data/.env" && touch "$D/look/go"
wait $box
never "in an image an except holds" "$(cat "$T/seen")" SECRET
done_testing
