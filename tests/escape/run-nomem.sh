# The nth allocation of the whole program fails (a build with hooks, never the released one), for n = 1, 2, 3 ... until a run
# goes through. Either a whole box, attested, or a clear error and status 125; and no debris. Also for the verbs that only read.
. "$(dirname "$0")/../cli/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
RELEASE=$CORDON
cp "$BUILD/tests/hooked" "$T/hooked" && chmod 755 "$T/hooked" || { fail "the program with hooks is built"; done_testing; }
H=$T/hooked
is "the released program knows no such hook" "$(grep -c CORDON_ALLOC "$RELEASE")" 0
before=$(orphans)
mkdir -p "$T/door/hidden" && echo content >"$T/door/file" && echo secret >"$T/door/hidden/f"
cat >"$T/policy" <<END
box nomem
use base/system
read $T/door except hidden
env PASSED
limit time 9s
expect deny read /root
END
chmod -R a+rX "$T/door" "$T/policy"
PASSED=passed
export PASSED

# A run prints all that its doors show: what is lost on the way would be missing there.
# shellcheck disable=SC2016
script='cat door/file; ls door/hidden; echo $PASSED; grep -E "^(CapBnd|CapEff|NoNewPrivs|Seccomp):" /proc/self/status'
for who in "" as_user; do
        run() { $who env CORDON_ALLOC="$1" timeout 20 "$H" run -q --status-fd 3 --wall namespace -p "$T/policy" --cwd "$T" -- sh -c "$script" 3>"$T/status" 2>"$T/err" </dev/null; }
        want=$(run 0)
        has "${who:-root}: without a fault the box shows its doors" "$want" "content
passed
CapEff:"
        layers=$(jq -c .layers "$T/status")
        n=0 refused=0 whole=0
        : >"$T/wrong"
        while [ $n -lt 5000 ]; do
                n=$((n + 1))
                out=$(run $n)
                code=$?
                if [ $code -eq 0 ]; then
                        whole=$((whole + 1))
                        [ "$out" = "$want" ] || echo "$n: ran, but showed $out" >>"$T/wrong"
                        # A result that found no memory is told to be missing; then the walls are known by what the box showed.
                        if [ -s "$T/status" ]; then
                                [ "$(jq -c 'select(.attested) | .layers' "$T/status")" = "$layers" ] || echo "$n: ran, but $(cat "$T/status")" >>"$T/wrong"
                        fi
                        [ $whole -lt 40 ] || break
                        continue
                fi
                whole=0
                refused=$((refused + 1))
                [ $code -eq 125 ] || echo "$n: status $code: $(cat "$T/err")" >>"$T/wrong"
                grep -q '^cordon: error: .*memory' "$T/err" || echo "$n: no clear word: $(head -n 1 "$T/err")" >>"$T/wrong"
                [ -z "$out" ] || [ $code -ne 125 ] || echo "$n: refused, but showed $out" >>"$T/wrong"
        done
        is "${who:-root}: an allocation that fails never lowers a wall ($n starts, $refused refused)" "$(head -n 20 "$T/wrong")" ""
        ok "${who:-root}: faults were really there" test $refused -gt 30
        ok "${who:-root}: and the last forty starts were whole" test $whole -ge 40
done

# verb NAME WORDS...: what it prints is whole, or it says why not
verb() {
        name=$1
        want=$(CORDON_ALLOC=0 "$H" "$@" 2>/dev/null)
        status=$?
        n=0 refused=0 whole=0
        : >"$T/wrong"
        while [ $n -lt 3000 ] && [ $whole -lt 40 ]; do
                n=$((n + 1))
                out=$(CORDON_ALLOC=$n timeout 20 "$H" "$@" 2>"$T/err")
                code=$?
                if [ "$code:$out" = "$status:$want" ]; then
                        whole=$((whole + 1))
                        continue
                fi
                whole=0 refused=$((refused + 1))
                [ $code -eq 125 ] || echo "$n: status $code, and not what it prints otherwise" >>"$T/wrong"
                grep -q '^cordon: error: .*memory' "$T/err" || echo "$n: no clear word: $(head -n 1 "$T/err")" >>"$T/wrong"
        done
        is "$name tells all or says why not ($n times, $refused refused)" "$(head -n 10 "$T/wrong")" ""
        ok "$name met faults" test $refused -gt 0
}
verb check "$T/policy"
verb doors -p "$T/policy"
verb doors --json -p "$T/policy"
verb why -p "$T/policy" read /root/x
verb policy show --json "$T/policy"
verb policy diff "$T/policy" examples/resize-image/resize.policy
verb run --plan -p "$T/policy" -- sh
ok "no control group is left by any of them" none_left
is "no process is left by any of them" "$(find /proc -maxdepth 2 -name exe -lname "$H" 2>/dev/null)" ""
done_testing
