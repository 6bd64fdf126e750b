#!/bin/sh
# Directories that are closed to the one who looks: on the host before the box, and in the layer by the box. What lies in one is
# named and held back, the rest lands whole, and once the directory is open the rest of it lands, too.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"
trap 'code=$?; chmod -R u+rwX "$T" 2>/dev/null; rm -rf "$T"; exit $code' EXIT
trap 'exit 130' INT TERM

# held MODE SCRIPT LATER: an ordinary user's directory `shut` of that mode; SCRIPT in the box, with `a` changed beside it.
# First the rest lands, then, with the directory open, what was held back; LATER is what is there then.
held() {
        fresh 'mkdir shut; echo x >shut/x; echo z >shut/z; echo a >a; chmod '"$1"' shut'
        edit "$2; echo b >>a"
        is "mode $1: the run's end says nothing else" "$(cat err)" ""
        cordon diff --no-pager "$run" >out || fail "mode $1: diff" "$(cat out)"
        has "mode $1: the diff names the directory" "$(cat out)" "shut is closed to you on the host"
        has "mode $1: and shows the rest" "$(cat out)" "a: changed"
        cordon diff --json "$run" >json
        is "mode $1: so does --json" "$(jq -r '[.entries[] | select(.closed == "shut")] | length > 0' json)" true
        has "mode $1: the others can become a patch" "$(cordon apply --as-patch - "$run")" "not in this patch: shut"
        cordon apply "$run" >out || fail "mode $1: apply" "$(cat out)"
        has "mode $1: the apply names the directory and what to do" "$(cat out)" "$D/p/shut is closed to you: open it (chmod u+rwx), then apply again"
        is "mode $1: the rest has landed" "$(tr '\n' ' ' <"$D/p/a")" "a b "
        cordon undo "$run" >out || fail "mode $1: undo" "$(cat out)"
        is "mode $1: undo restores the rest and the mode" "$(cat "$D/p/a") $(stat -c %a "$D/p/shut")" "a $1"
        is "mode $1: and nothing in it was touched" "$(chmod 700 "$D/p/shut" && cat "$D/p/shut/x" "$D/p/shut/z" | tr '\n' ' ')" "x z "
        cordon apply "$run" >out || fail "mode $1: apply again" "$(cat out)"
        is "mode $1: with the directory open all of it lands" "$(cd "$D/p" && find shut -type f 2>/dev/null | sort | while read -r f; do echo "$f:$(tr '\n' ' ' <"$f")"; done | tr '\n' ' ')" "$3"
        cordon discard "$run" >out
}
who=as_user
D=$T/$who
held 0 'chmod 700 shut; echo more >>shut/x; echo n >shut/new; rm shut/z; mkdir shut/d; echo i >shut/d/in' 'shut/d/in:i  shut/new:n  shut/x:x more  '
held 400 'chmod 700 shut; echo more >>shut/x; rm shut/z' 'shut/x:x more  '
held 200 'chmod 700 shut; rm -r shut/z; rm shut/x; echo other >shut/x' 'shut/x:other  '
held 0 'chmod 700 shut; rm -r shut' ''
held 0 'chmod 700 shut; rm -r shut; echo a file >shut' 'shut:a file  '
held 600 'chmod 700 shut; rm -r shut; mkdir shut; echo 1 >shut/one' 'shut/one:1  '

# --- may be searched, and that is enough; may not be written ---
fresh 'mkdir shut; echo x >shut/x; echo z >shut/z; chmod 300 shut'
edit 'echo more >>shut/x; rm shut/z; echo n >shut/n'
has "a directory that can be searched and written needs no list" "$(cordon apply "$run")" "applied 3 entries"
is "all of it is there" "$(chmod 700 "$D/p/shut" && cd "$D/p/shut" && cat -- * | tr '\n' ' ')" "n x more "
chmod 300 "$D/p/shut" && cordon undo "$run" >out
is "undo restores" "$(chmod 700 "$D/p/shut" && cd "$D/p/shut" && cat -- * | tr '\n' ' ')" "x z "
cordon discard "$run" >/dev/null
for mode in 100 500; do
        fresh 'mkdir shut; echo x >shut/x; echo a >a; chmod '$mode' shut'
        edit 'echo more >>shut/x; echo b >>a'
        has "mode $mode: what may not be written is held back" "$(cordon apply "$run")" "held back: shut/x: $D/p/shut is closed to you"
        is "mode $mode: the rest has landed" "$(tr '\n' ' ' <"$D/p/a")" "a b "
        has "mode $mode: by name, too, it is held back" "$(cordon apply "$run" shut/x)" "held back: shut/x: $D/p/shut is closed"
        chmod 700 "$D/p/shut" && cordon apply "$run" >out
        is "mode $mode: it lands when the directory is open" "$(tr '\n' ' ' <"$D/p/shut/x")" "x more "
        cordon discard "$run" >/dev/null
done
fresh 'mkdir shut; echo x >shut/x; echo a >a; chmod 500 shut'
edit 'chmod 700 shut; rm -r shut; echo b >>a'
has "a directory that may not be written cannot go" "$(cordon apply "$run")" "held back: shut: $D/p/shut is closed to you"
chmod 700 "$D/p/shut" && has "and goes when it is open" "$(cordon apply "$run")" "applied 2 entries"
cordon undo "$run" >/dev/null && is "and comes back" "$(cat "$D/p/shut/x")" x
cordon discard "$run" >/dev/null

# --- what nobody could look at when the run ended, and the host changed since, is never overwritten ---
who=as_user D=$T/as_user
fresh 'mkdir shut; echo x >shut/x; echo a >a; chmod 0 shut'
edit 'chmod 700 shut; echo more >>shut/x; echo n >shut/n'
chmod 700 "$D/p/shut" && $who sh -c "echo y >$D/p/shut/x; echo made >$D/p/shut/n"
has "a file that changed behind a closed door is in the way" "$(cordon apply "$run")" "conflict: shut/x: changed since the run began"
has "so is one that was made there" "$(cordon apply "$run")" "conflict: shut/n: changed since the run began"
is "neither is overwritten" "$(cat "$D/p/shut/x" "$D/p/shut/n" | tr '\n' ' ')" "y made "
cordon discard "$run" >/dev/null
for mode in 0 200; do
        fresh 'echo secret >f; echo a >a; chmod '$mode' f'
        edit 'chmod 600 f; echo more >>f; chmod 200 f; echo b >>a'
        at=$(stat -c %Z "$D/p/f") && cordon diff --no-pager "$run" >out
        has "a file of mode $mode: the diff says that it cannot be read" "$(cat out)" "the host's file cannot be read"
        is "and did not touch it" "$(stat -c '%a %Z' "$D/p/f")" "$mode $at"
        sleep 0.02
        $who sh -c "chmod 600 $D/p/f; echo SECRET >$D/p/f; touch -r $D/p/a $D/p/f; chmod $mode $D/p/f"
        has "changed on the host, with size and mode as before, it is in the way" "$(cordon apply "$run")" "conflict: f: changed since the run began"
        chmod 600 "$D/p/f" && is "and is not overwritten" "$(cat "$D/p/f")" SECRET
        cordon discard "$run" >/dev/null
        fresh 'echo secret >f; chmod '$mode' f'
        edit 'chmod 600 f; echo more >>f'
        has "as it was, it lands" "$(cordon apply "$run")" "applied 1 entry"
        is "whole" "$(tr '\n' ' ' <"$D/p/f")" "secret more "
        cordon undo "$run" >out
        is "and comes back with its mode" "$(stat -c %a "$D/p/f")" "$mode"
        cordon discard "$run" >/dev/null
done

# --- directories that the box closed ---
for who in root as_user; do
        D=$T/$who
        for mode in 000 200 400 100 300 500 600; do
                fresh 'mkdir old; echo o >old/o'
                edit "mkdir -p new/in; echo n >new/in/n; echo m >new/m; echo more >>old/o; chmod $mode new/in; chmod $mode new; chmod $mode old"
                cordon diff --no-pager "$run" >out || fail "$who: the box closed with $mode: diff" "$(cat out)"
                has "$who: the box closed with $mode: what is in it is shown" "$(cat out)" "new/in/n: added"
                cordon apply "$run" >out || fail "$who: the box closed with $mode: apply" "$(cat out)"
                is "$who: the box closed with $mode: modes land" "$(stat -c %a "$D/p/new" "$D/p/old" | tr '\n' ' ')" "$(printf '%o %o ' 0$mode 0$mode)"
                chmod 700 "$D/p/new" "$D/p/old" && chmod 700 "$D/p/new/in"
                is "$who: the box closed with $mode: and contents" "$(cat "$D/p/new/in/n" "$D/p/new/m" "$D/p/old/o" | tr '\n' ' ')" "n m o more "
                chmod $mode "$D/p/new/in" && chmod $mode "$D/p/new" "$D/p/old"
                cordon undo "$run" >out || fail "$who: the box closed with $mode: undo" "$(cat out)"
                is "$who: the box closed with $mode: undo restores" "$(find "$D/p" -printf '%P:%m ')" ":755 old:755 old/o:644 "
                cordon discard "$run" >/dev/null
        done
        fresh 'echo a >a'
        edit 'mkdir -p in/deep +first; chmod 0 in/deep in +first'
        cordon diff --no-pager "$run" >/dev/null
        is "$who: a run that goes on finds them as they were" "$($who "$CORDON" run -q --no-stdin --ledger off --edit "$D/p" --cwd "$D/p" --on "$run" -- sh -c 'stat -c %a in +first; chmod 700 in; stat -c %a in/deep; chmod 0 in')" "0
0
0"
        cordon apply "$run" >out || fail "$who: after two runs: apply" "$(cat out)"
        is "$who: and so do they land" "$(stat -c %a "$D/p/in" "$D/p/+first"; chmod 700 "$D/p/in"; stat -c %a "$D/p/in/deep")" "0
0
0"
        cordon discard "$run" >/dev/null
        fresh 'echo a >a'
        edit 'echo b >>a; echo n >n; chmod 0 .'
        cordon diff --no-pager "$run" >out || fail "$who: the box closed the top: diff" "$(cat out)"
        cordon apply "$run" >out || fail "$who: the box closed the top: apply" "$(cat out)"
        is "$who: the box closed the top: it lands" "$(stat -c %a "$D/p") $(chmod 700 "$D/p" && cat "$D/p/a" "$D/p/n" | tr '\n' ' ')" "0 a b n "
        cordon discard "$run" >/dev/null

        # --- root is kept from nothing ---
        [ $who = root ] || continue
        fresh 'mkdir shut; echo x >shut/x; chmod 0 shut'
        edit 'chmod 700 shut; echo more >>shut/x'
        if [ "$(id -u)" -eq 0 ]; then has "root is kept from nothing" "$(cordon apply "$run")" "applied 2 entries"; else skip "root is kept from nothing" "needs root"; fi
        cordon discard "$run" >/dev/null
done
done_testing
