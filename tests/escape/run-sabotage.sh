# Our own walls, sabotaged: a build with hooks (never the released one) leaves a layer out without telling the probe from
# inside, is killed at each step of a start, and has a door swapped under it. Either a whole box or a clear error, and no debris.
. "$(dirname "$0")/../cli/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
RELEASE=$CORDON
cp "$BUILD/tests/hooked" "$T/hooked" && chmod 755 "$T/hooked" || { fail "the program with hooks is built"; done_testing; }
H=$T/hooked

is "the released program knows no hook" "$(grep -c -E 'CORDON_(KNOCKOUT|SABOTAGE|STEP)' "$RELEASE")" 0
is "the program with hooks does" "$([ "$(grep -c -E 'CORDON_(KNOCKOUT|SABOTAGE|STEP)' "$H")" -gt 0 ] && echo yes)" yes

for who in "" as_user; do
        is "${who:-root}: with hooks and none pulled it runs" "$($who "$H" run -q -- echo fine)" fine
        for layer in mount net seccomp landlock capabilities no-new-privs nested-user; do
                out=$($who env CORDON_SABOTAGE=$layer "$H" run -q --wall namespace --cwd / -- echo RAN 2>&1 </dev/null)
                is "${who:-root}: without $layer nothing starts" "$?:$(printf '%s' "$out" | grep -c RAN)" 125:0
        done
        out=$($who env CORDON_SABOTAGE=seccomp "$H" run -q --wall namespace -- echo RAN 2>&1)
        has "${who:-root}: and the wall that is down is named" "$out" 'the wall `seccomp` is not up'
done

# Killed at each step: init by its stages, the keeper by its own.
for step in net-begin knobs maps ids name root landlock filter net-join enter terminal released keeper-cloned keeper-mapped; do
        before=$(orphans)
        out=$(CORDON_STEP=$step:kill "$H" run -q --wall namespace -- echo RAN 2>/dev/null </dev/null)
        status=$?
        case $step in keeper-*) want=137 ;; *) want=125 ;; esac
        is "killed at $step: nothing ran, and it is said" "$status:$out" "$want:"
        ok "killed at $step: no control group is left" none_left
done

# A door is swapped between the look at it and its mounting. Root's keeper has handed it over, open, by then: it stays the one
# that was named. An ordinary user's box opens it again, finds another, and does not start.
swap() { # WHO: the box starts, waits before its mounts, and the door is changed meanwhile
        rm -rf "$T/door" "$T/evil" "$T/gone"
        mkdir "$T/door" "$T/evil" && echo good >"$T/door/f" && echo evil >"$T/evil/f"
        $1 env CORDON_STEP=root "$H" run -q --wall namespace --read "$T/door" -- cat "$T/door/f" >"$T/out" 2>"$T/err" </dev/null &
        sleep 0.4
        mv "$T/door" "$T/gone" && mv "$T/evil" "$T/door"
        wait $!
}
if [ "$(id -u)" -eq 0 ]; then
        swap ""
        is "root: a door swapped late is still the one that was named" "$(cat "$T/out")" good
fi
swap as_user
is "a swapped door stops the start" "$?:$(cat "$T/out")" 125:
has "and it is said" "$(cat "$T/err")" "changed while the box was starting"
done_testing
