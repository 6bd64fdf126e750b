#!/bin/sh
# What a person is to hear of the record: an apply that was interrupted, a lease that nobody renewed, incidents of what nobody
# was asked about, batch jobs, self-tests, and the sums of each box.
# shellcheck disable=SC2016,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
cd "$T" || exit 1
command -v jq >/dev/null || { skip "told" "jq is not installed"; done_testing; }

# ---- each entry of an apply is recorded once, directories too ----
mkdir tree old && echo x >tree/keep
"$CORDON" run -q --name entries --edit "$T/tree" -- sh -c "mkdir -p $T/tree/d/e $T/tree/empty; echo 1 >$T/tree/d/a; echo 2 >$T/tree/d/e/b; rm $T/tree/keep" </dev/null
"$CORDON" apply >out 2>&1
applied() { "$CORDON" ledger --json --kind file | jq -r 'select(.phase == "outcome" and .result == "applied") | .target' | sed "s|$T/||" | sort | tr '\n' ' '; }
is "each entry once" "$(applied)" "tree/d tree/d/a tree/d/e tree/d/e/b tree/empty tree/keep "
is "as many as were announced" "$("$CORDON" ledger --json --kind intent | jq .count) $(sed -n 's/^cordon: applied \([0-9]*\) entries.*/\1/p' out)" "6 6"
"$CORDON" undo >/dev/null 2>&1
is "and as many were taken back" "$("$CORDON" ledger --json --kind human | jq 'select(.result == "taken back") | .count')" 6
chmod 755 old
"$CORDON" run -q --name mode --edit "$T/old" -- chmod 700 "$T/old" </dev/null
run=$("$CORDON" ledger --json --box mode --kind start | jq -r .run)
"$CORDON" apply "$run" >/dev/null 2>&1
is "a directory that is only changed is an entry too" "$(stat -c %a old) $("$CORDON" ledger --json --run "$run" --kind outcome | jq -s 'map(select(.result == "applied")) | length')" "700 1"
"$CORDON" undo "$run" >/dev/null 2>&1
is "also when it is taken back" "$(stat -c %a old) $("$CORDON" ledger --json --run "$run" --kind human | jq 'select(.result == "taken back") | .count')" "755 1"

# ---- an apply that was killed is told by who completes it, or takes it back ----
cd "$here/../.." && cp "$BUILD/tests/hooked" "$T/hooked" && chmod 755 "$T/hooked" || { fail "the program with hooks is built"; done_testing; }
cd "$T" || exit 1
landed=0 back=0 wrong=""
for step in $(seq 1 60); do
        rm -rf k && mkdir k && echo a >k/a
        export CORDON_STATE="$T/state-$step" && mkdir -m 700 "$CORDON_STATE"
        "$CORDON" run -q --edit "$T/k" -- sh -c "mkdir $T/k/d; echo b >$T/k/a; echo c >$T/k/d/c" </dev/null
        CORDON_WORK_STEP=$step "$T/hooked" apply >/dev/null 2>&1 && break
        "$CORDON" diff --list >/dev/null 2>err
        case $(cat k/a),$(cat err) in
        b,*"it is complete now: 3 entries; cordon undo "*) landed=$((landed + 1)) ;;
        a,*"it is taken back now: 3 entries"*) back=$((back + 1)) ;;
        a,) [ $back -eq 0 ] || wrong="$wrong $step" ;; # its first step was not reached
        b,) [ "$("$CORDON" ledger --json --kind outcome | jq -s 'map(select(.result == "applied")) | length')" -eq 3 ] || wrong="$wrong $step" ;; # after its last
        *) wrong="$wrong $step:$(cat err)" ;;
        esac
        "$CORDON" diff --list >/dev/null 2>err
        ! grep -q interrupted err || wrong="$wrong twice:$step"
done
CORDON_STATE=$T/state
ok "some were completed, and told" test $landed -gt 0
ok "some were taken back, and told" test $back -gt 0
is "none in silence, none twice" "$wrong" ""

# ---- a lease that nobody renewed ----
is "a command that ends with 0 after its warning" "$(status "$CORDON" run --json --time 2s --renew 1 -- sh -c 'trap "exit 0" TERM; while :; do sleep 0.05; done')" 124
is "has reached its limit" "$(tail -n 1 err | jq -c '[.limit, (.limits_hit | index("time") != null)]')" '["time",true]'
is "one that ends before it has not" "$(status "$CORDON" run --json --time 60s --renew 1 -- true) $(tail -n 1 err | jq -c .limits_hit)" "0 []"

# ---- incidents without a gate ----
"$CORDON" run -q --name harmful -- sh -c 'echo bad' </dev/null >/dev/null
ok "an incident of a run, by the name of its box" "$CORDON" approve incident harmful "it sent too much"
record=$("$CORDON" ledger --json --box harmful --kind output | jq -r .id)
ok "and of one record" "$CORDON" approve incident "$record" "what it printed was wrong"
is "each has its cause" "$("$CORDON" ledger --json --kind gate | jq -r '.parents[0]' | sort | tr '\n' ' ')" "$(printf '%s\n' "$record" "${record%.*}.start" | sort | tr '\n' ' ')"
is "of what does not exist there is none" "$(status "$CORDON" approve incident nothing-such "x")" 125
is "with its text" "$("$CORDON" ledger --json --kind gate | jq -r .more.reason | sort | tr '\n' ' ')" "it sent too much what it printed was wrong "

# ---- batch jobs and self-tests ----
for n in 1 2; do SLURM_JOB_ID=91 "$CORDON" run -q --name jobs -- sh -c "exit $((n - 1))" </dev/null; done
"$CORDON" selftest claims --sign "$T/signed" >/dev/null 2>&1
is "a batch job has its runs" "$("$CORDON" ledger --job 91 --kind end --json | jq -r .box | tr '\n' ' ')" "jobs jobs "
is "what a self-test signed is recorded" "$("$CORDON" ledger --json --kind audit | jq -r '.target + " " + .result')" "claims signed"

# ---- metrics ----
"$CORDON" ledger export --format prometheus >metrics
is "of each box" "$(grep '^cordon_box_runs_total{box="jobs"}\|^cordon_box_runs_failed_total{box="jobs"}' metrics | sed 's/.* //' | tr '\n' ' ')" "2 1 "
is "their sum is that of all" "$(sed -n 's/^cordon_box_runs_total{.*} //p' metrics | paste -s -d + | bc)" "$(sed -n 's/^cordon_runs_total //p' metrics)"
is "what a box printed is counted as output, and not again at its end" "$(grep -c '^cordon_bytes_total{kind="end".*} 0$' metrics)" 1
ok "the ledger verifies" "$CORDON" ledger verify
done_testing
