# Our own walls, sabotaged: a build with hooks (never the released one) leaves a layer out without telling the probe from
# inside, is killed at each step of a start, and has a door swapped under it. Either a whole box or a clear error, and no debris.
here=$(cd "$(dirname "$0")/../cli" && pwd)
. "$here/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
RELEASE=$CORDON
cp "$BUILD/tests/hooked" "$T/hooked" && chmod 755 "$T/hooked" || { fail "the program with hooks is built"; done_testing; }
H=$T/hooked

is "the released program knows no hook" "$(grep -c -E 'CORDON_(KNOCKOUT|SABOTAGE|STEP)' "$RELEASE")" 0
is "the program with hooks does" "$([ "$(grep -c -E 'CORDON_(KNOCKOUT|SABOTAGE|STEP)' "$H")" -gt 0 ] && echo yes)" yes

for who in "" as_user; do
        is "${who:-root}: with hooks and none pulled it runs" "$($who "$H" run -q -- echo fine)" fine
        for layer in mount pid net seccomp landlock capabilities no-new-privs nested-user; do
                out=$($who env CORDON_SABOTAGE=$layer "$H" run -q --wall namespace --cwd / -- echo RAN 2>&1 </dev/null)
                is "${who:-root}: without $layer nothing starts" "$?:$(printf '%s' "$out" | grep -c RAN)" 125:0
        done
        if [ -x "$T/libexec/cordon-egress" ]; then # with a `net` door there is a link, which is looked for instead
                is "${who:-root}: with a net door it runs" "$($who "$H" run -q --wall namespace --net closed.test:80 -- echo fine 2>&1 </dev/null)" fine
                out=$($who env CORDON_SABOTAGE=net "$H" run -q --wall namespace --net closed.test:80 -- echo RAN 2>&1 </dev/null)
                is "${who:-root}: and without its network it does not" "$?:$(printf '%s' "$out" | grep -c RAN)" 125:0
        else
                skip "${who:-root}: a net door without its network" "cordon-egress is not built here"
        fi
        out=$($who env CORDON_SABOTAGE=seccomp "$H" run -q --wall namespace -- echo RAN 2>&1)
        has "${who:-root}: and the wall that is down is named" "$out" 'the wall `seccomp` is not up'
done

# Behind the filter stands more, which no attempt sees while the filter answers first: without it, the caller's keys are still
# not the box's, Landlock holds what it holds alone, the locks on root's powers are on, and there is no user namespace left to make.
compile second
for who in "" as_user; do
        is "${who:-root}: outside, a key is held, a port answers for itself and a name is heard" "$($who "$T/second" hold "$T/second" | grep -v -e securebits -e namespace | tr '\n' ' ')" "key FOUND tcp Connection refused bind BOUND abstract CONNECTED "
        for wall in namespace process; do
                $who "$T/second" hold env CORDON_KNOCKOUT=seccomp "$H" run -q --use base/strict --wall $wall --read "$T/second" -- "$T/second" >"$T/out" 2>"$T/err" </dev/null
                is "${who:-root}, $wall: the caller's keyring does not come along, filter or not" "$(head -n 1 "$T/out")" "key none"
                is "${who:-root}, $wall: Landlock holds TCP by itself" "$(sed -n -e 's/^tcp //p' -e 's/^bind //p' "$T/out" | paste -s -d ' ')" "refused refused"
                [ $wall = namespace ] || is "${who:-root}, $wall: and names without a file" "$(sed -n 's/^abstract //p' "$T/out")" refused
        done
        $who env CORDON_KNOCKOUT=seccomp "$H" run -q --root --wall namespace --read "$T/second" -- "$T/second" >"$T/out" 2>"$T/err" </dev/null
        # noroot, no fixup of ids, no ambient raise, each locked; keep-caps locked off
        is "${who:-root}: the locks on root's powers are on" "$(sed -n 's/^securebits //p' "$T/out")" 0xef
        is "${who:-root}: and there is no user namespace left" "$(sed -n 's/^namespace //p' "$T/out")" refused
done

# Killed at each step: init by its stages, the keeper by its own.
killed_at() { # STEP WALL
        out=$(CORDON_STEP=$1:kill "$H" run -q --wall "$2" -- echo RAN 2>"$T/err" </dev/null)
        status=$?
        case $1 in keeper-*) want=137 ;; *) want=125 ;; esac
        is "$2, killed at $1: nothing ran, and it is said" "$status:$out" "$want:"
        ok "$2, killed at $1: no control group is left" none_left
}
# Groups of v1 are entered late, and the payload is born after that; without groups it is born early.
for wall in namespace "namespace without cgroup"; do
        for step in launcher keyring payload network net-begin memfd device maps ids gate name root landlock filter signals net-join lend enter knobs terminal released \
                keeper-cloned keeper-mapped; do
                killed_at $step "$wall"
        done
done
for step in early-begin early-ready; do
        killed_at $step "namespace without cgroup"
        has "and it is the payload's process that is missed" "$(cat "$T/err")" "the payload's process ended before its program began"
done

# An early payload prepares itself beside init and shares its errno, which init goes by: held meanwhile, it finds it untouched.
for who in "" as_user; do
        out=$($who env CORDON_STEP=root "$H" run -q --wall "namespace without cgroup" -- echo fine 2>&1)
        is "${who:-root}: an early payload leaves init's errno alone" "$out" fine
done

# held STEP: a program of ours is there, and is held
held() { for p in $(pgrep -x "at-$1"); do [ "$(readlink "/proc/$p/exe")" != "$H" ] || return 0; done; return 1; }

# Killed while init waits for a helper of its own and hears nobody: it goes with its keeper, also after its change of ids.
for who in "" as_user; do
        $who env CORDON_STEP=early-begin "$H" run -q --wall "namespace without cgroup" -- true >"$T/out" 2>&1 </dev/null &
        soon held early-begin
        keeper=$(pgrep -x -f "$H run -q --wall namespace without cgroup -- true" | head -n 1)
        init=$(pgrep -P "${keeper:-0}" -x cordon-init)
        ok "${who:-root}: init waits" test -n "$init" -a -d "/proc/$init"
        kill -9 "$keeper"
        for _ in 1 2 3 4 5 6 7 8 9 10; do # a second: the step still holds it then
                sleep 0.1
                grep -q '^State:.[^Z]' "/proc/$init/status" 2>/dev/null || break
        done
        is "${who:-root}: and ends with its keeper at once" "$(sed -n 's/^State:.\([^Z]\).*/\1/p' "/proc/$init/status" 2>/dev/null)" ""
        wait $!
done

# A door is swapped between the look at it and its mounting. Root's keeper has handed it over, open, by then: it stays the one
# that was named. An ordinary user's box opens it again, finds another, and does not start.
swap() { # WHO WALL STEP: the box starts, waits before the step, and the door is changed meanwhile
        rm -rf "$T/door" "$T/evil" "$T/gone"
        mkdir "$T/door" "$T/evil" && echo good >"$T/door/f" && echo evil >"$T/evil/f"
        $1 env CORDON_STEP="$3" "$H" run -q --wall "$2" --read "$T/door" -- cat "$T/door/f" >"$T/out" 2>"$T/err" </dev/null &
        soon held "$3"
        mv "$T/door" "$T/gone" && mv "$T/evil" "$T/door"
        wait $!
}
if [ "$(id -u)" -eq 0 ]; then
        swap "" namespace root
        is "root: a door swapped late is still the one that was named" "$(cat "$T/out")" good
fi
swap as_user namespace root
is "a swapped door stops the start" "$?:$(cat "$T/out")" 125:
has "and it is said" "$(cat "$T/err")" "changed while the box was starting"
# So is the private layer of an edit door.
mkdir "$T/edited" && chmod 777 "$T/edited"
as_user env CORDON_STEP=root "$H" run -q --wall namespace --ledger off --edit "$T/edited" -- echo RAN >"$T/out" 2>"$T/err" </dev/null &
soon held root
layer=$(find "$T/state-user/work" -type d -name upper 2>/dev/null)
mv "${layer%/upper}" "${layer%/upper}.x" && cp -a "${layer%/upper}.x" "${layer%/upper}"
wait $!
is "a swapped layer stops the start" "$?:$(cat "$T/out"):$(grep -c 'the private overlay .* changed while the box was starting' "$T/err")" 125::1
# The process wall mounts nothing: its rules are made of paths, which are looked up once more.
for who in "" as_user; do
        swap "$who" process landlock
        is "${who:-root}, process: a swapped door stops the start" "$?:$(cat "$T/out")" 125:
        has "${who:-root}, process: and it is said" "$(cat "$T/err")" "changed while the box was starting"
done

# What an `except` hides is made between the mounts and the rules of Landlock: no mount covers it, so it gets no right. Not below
# /tmp, of which the box has its own.
# Asked to end while the first wall goes up, which the host then refuses: who asked means the run, not the wall.
if strace -f -o /dev/null true 2>/dev/null; then
        CORDON_STEP=enter timeout -k 1 20 strace -f -qq -o /dev/null -e trace=pivot_root -e inject=pivot_root:error=EPERM \
                sh -c 'echo $$ >"$1"; shift; exec "$@"' sh "$T/keeper" "$H" run -q --ledger off --status-fd 3 -- sleep 5 3>"$T/status" 2>"$T/err" </dev/null &
        soon held enter
        kill -TERM "$(cat "$T/keeper")"
        wait $!
        is "a signal during a start that another wall follows ends the run" "$(jq -r '"\(.wall) \(.end) \(.signal)"' <"$T/status" 2>&1)" "process signaled 15"
else
        skip "a signal during a start that another wall follows ends the run" "strace is not installed, or may not trace here"
fi

elsewhere cordon-sabotage
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
for who in "" as_user; do
        rm -rf "$D/x" && mkdir "$D/x" && echo SECRET >"$D/x/there" && echo open >"$D/x/beside" && chmod -R a+rX "$D"
        echo "read $D/x except there later" >"$T/policy"
        $who env CORDON_STEP=landlock "$H" run -q --wall namespace -p "$T/policy" --use base/system -- sh -c "ls $D/x; cat $D/x/beside $D/x/there $D/x/later" >"$T/out" 2>"$T/err" </dev/null &
        soon held landlock
        echo SECRET >"$D/x/later"
        wait $!
        is "${who:-root}: what is hidden, made late, is seen and not read" "$(paste -s -d ' ' "$T/out")" "beside later there open"
done
done_testing
