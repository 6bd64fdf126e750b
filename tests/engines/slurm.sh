#!/bin/sh
# Slurm as it is packaged: boxes in srun, sbatch and job arrays, with the prolog and epilog of contrib/slurm.
# alone: it counts what is left on the whole machine
# shellcheck disable=SC1091,SC2013,SC2016,SC2034,SC2086,SC2317
here=$(cd "$(dirname "$0")/../cli" && pwd)
. "$(dirname "$0")/lib-slurm.sh"
slurm_alone "$@"
. "$here/lib.sh"
cd "$T" || exit 1
source=${CORDON_SOURCE:-$here/../..}
chmod 711 "$T"
trap 'slurm_down; remove "$T"' EXIT
before=$(orphans)
export CORDON_STATES="$T/nodes"
for p in prolog task-prolog epilog; do
        printf '#!/bin/sh\nexport CORDON=%s CORDON_STATES=%s CORDON_LIBEXEC=%s\nexec sh %s/contrib/slurm/%s\n' "$CORDON" "$CORDON_STATES" "$CORDON_LIBEXEC" "$source" $p >"$T/$p"
        chmod 755 "$T/$p"
done
slurm_up linuxproc "Prolog=$T/prolog" "TaskProlog=$T/task-prolog" "Epilog=$T/epilog" "JobAcctGatherType=jobacct_gather/linux" \
        "JobAcctGatherFrequency=task=1" "JobAcctGatherParams=OverMemoryKill"
user=nobody
as() {
        who=$1
        shift
        [ "$who" = root ] || set -- setpriv --reuid $user --regid "$(id -g $user)" --clear-groups env HOME=/ "$@"
        "$@"
}
# begin WHO COMMAND...: in the background; its own pid in $!
begin() {
        who=$1
        shift
        [ "$who" = root ] || set -- setpriv --reuid $user --regid "$(id -g $user)" --clear-groups env HOME=/ "$@"
        (exec "$@") &
}
state_of() { [ "$1" = root ] && echo "$CORDON_STATES/0" || echo "$CORDON_STATES/$(id -u $user)"; }
mkdir -m 777 "$T/o"
# batch WHO OPTION...: a script from the standard input; the job's id
batch() { who=$1 && shift && as "$who" sbatch --parsable -D / -o "$T/o/%j" "$@"; }
result() { jq -r "$2" <"$T/o/$1.json"; }
here_left() { pgrep -f "^sleep 77[.]$$\$"; }
none_here() { [ -z "$(here_left)" ]; }

# The engine's own time limit is a minute at least: that job runs beside all others.
printf '#!/bin/sh\n%s run --time 10m --status-fd 3 -- sleep 78.%s 3>%s/o/late.json\n' "$CORDON" $$ "$T" >late
late=$(batch user --time 1 late)

for who in root user; do
        for code in 0 5 124 137; do
                is "$who: srun keeps exit code $code" "$(as $who srun -Q -D / "$CORDON" run -q -- sh -c "exit $code"; echo $?)" $code
        done
        is "$who: bytes pass through" "$(echo in | as $who srun -Q -D / "$CORDON" run -q -- cat)" in
        hasnt "$who: no variable of Slurm is in the box" "$(as $who srun -Q -D / "$CORDON" run -q -- env)" SLURM
        is "$who: the prolog made a state directory of the user's own" "$(stat -c '%U %a' "$(state_of $who)")" "$([ $who = root ] && echo root || echo $user) 700"

        # --- which limit fired ---
        j=$(printf '#!/bin/sh\nexec %s run --time 500ms --status-fd 3 -- sleep 77.%s 3>%s/o/$SLURM_JOB_ID.json\n' "$CORDON" $$ "$T" | batch $who --time 5)
        ok "$who: a job over cordon's time limit ends" soon ended "$j"
        is "$who: cordon says that its limit fired, Slurm that the job failed with 124" "$(result "$j" '"\(.end) \(.limit)"') $(field "$j" JobState) $(field "$j" ExitCode)" "limit time FAILED 124:0"
        j=$(printf '#!/bin/sh\nexec %s run --memory 64M --status-fd 3 -- python3 -c "x = b\\"x\\" * (300 << 20)" 3>%s/o/$SLURM_JOB_ID.json\n' "$CORDON" "$T" | batch $who --mem 2000)
        ok "$who: a job over cordon's memory limit ends" soon ended "$j"
        has "$who: and cordon says so" "$(result "$j" '"\(.end) \(.limits_hit // .limit)"') $(field "$j" JobState)" "memory"

        # --- signals ---
        begin $who srun -Q -D / "$CORDON" run -q -- sh -c 'trap "echo got USR1; exit 9" USR1; echo ready; while :; do sleep 0.05; done' >"$T/usr1.$who" 2>/dev/null
        srun=$!
        soon grep -q ready "$T/usr1.$who"
        kill -USR1 $srun
        wait $srun
        is "$who: a signal to srun reaches the payload" "$?:$(tail -n 1 "$T/usr1.$who")" "9:got USR1"
        j=$(printf '#!/bin/sh\n%s run -- sh -c "trap \\"\\" TERM; while :; do sleep 77.%s; done"\n' "$CORDON" $$ | batch $who)
        soon here_left
        scancel "$j"
        ok "$who: scancel ends a payload that ignores TERM, in a batch script" soon none_here
        j=$(printf '#!/bin/sh\n%s run -d -- sleep 77.%s\nsleep 1\n' "$CORDON" $$ | batch $who)
        soon ended "$j"
        ok "$who: a detached box ends with its job" soon none_here
        has "$who: which its output says" "$(cat "$T/o/$j")" "this is Slurm job $j: the box ends with it"
        has "$who: srun of a detached box is refused" "$(as $who srun -Q -D / "$CORDON" run -d -- true 2>&1)" "ends when this command returns"
done

# --- scancel at any moment ---
i=0
while [ $i -lt 24 ]; do
        j=$(printf '#!/bin/sh\n%s run -q --time 60s -- sh -c "sleep 77.%s & sleep 77.%s"\n' "$CORDON" $$ $$ | batch "$([ $((i % 2)) -eq 0 ] && echo root || echo user)")
        sleep "0.$((i % 9))$((i * 7 % 10))"
        scancel "$j"
        echo "$j" >>cancelled
        i=$((i + 1))
done
for j in $(cat cancelled); do soon ended "$j" || fail "job $j ends" "$(scontrol show job "$j")"; done
ok "24 jobs that were cancelled at any moment leave no process" soon none_here
ok "and no control group" none_left

# --- the load: an array of 200 ---
printf '#!/bin/sh\nexec %s run -p %s/array.policy -- sh -c "echo \\$1" sh "$SLURM_ARRAY_TASK_ID"\n' "$CORDON" "$T" >array
printf 'limit time 60s\nlimit memory 256M\n' >array.policy
began=$(date +%s)
array=$(as user sbatch --parsable -D / -o "$T/o/a.%a" --array 1-200 array)
all_done() { [ "$(grep -c "JobState=COMPLETED.*Name=array\|Name=array.*JobState=COMPLETED" "$D/log/jobcomp")" -ge 200 ]; }
for _ in 1 2 3 4 5 6; do soon all_done && break; done
is "200 jobs of an array completed" "$(grep 'Name=array' "$D/log/jobcomp" | grep -c 'JobState=COMPLETED')" 200
echo "# array: 200 jobs in $(($(date +%s) - began)) s"
is "each with its own output" "$(cat "$T"/o/a.* | sort -n | uniq | wc -l)" 200
CORDON_STATE=$(state_of user)
on_node() { as user env CORDON_STATE="$(state_of user)" CORDON_LEDGER=off "$CORDON" "$@"; }
is "and its own record of the job" "$(on_node log --json --kind start | jq -r 'select(.target == "sh" and .more.args == 5) | .more.job' | sort -u | grep -c '^Slurm ')" 200
ok "the array is job $array; nothing of it is left" none_left

printf '#!/bin/sh\nexec %s run -q -- true\n' "$CORDON" >once
# --- causes: a box that submits, on the submitting host; its job, on the node ---
mkdir -m 700 submit && chown $user submit
on_submit() { as user env CORDON_STATE="$T/submit" "$@"; }
on_submit "$CORDON" run -q --name submit --env TRACEPARENT -- sh -c 'echo "export TRACEPARENT=$TRACEPARENT"' >trace
. ./trace
export TRACEPARENT
j=$(printf '#!/bin/sh\nexec %s run -q --name job -- echo effect\n' "$CORDON" | batch user)
unset TRACEPARENT
soon ended "$j"
sealed() { as user env CORDON_STATE="$1" CORDON_LEDGER=off "$CORDON" ledger verify | grep -q -E '^([0-9]+) records, \1 of them'; }
ok "the epilog sealed the node's ledger" soon sealed "$(state_of user)"
soon sealed "$T/submit"
effect=$(on_node log --json --box job --kind output | jq -r .id | tail -n 1)
causes=$(as user env CORDON_LEDGER=off "$CORDON" ledger trace "$effect" --back --json --from "$T/submit" --from "$(state_of user)" | jq -r '.[] | .record.box + ":" + .record.kind + " " + (.record.more.job // "-")')
has "both ledgers are verified and read as one: from the effect to its job" "$causes" "job:start Slurm $j"
has "and to the box that submitted it" "$causes" "submit:start -"
kept=$CORDON_STATES/checkpoints/$(id -u $user)
ok "the epilog kept a checkpoint" soon test -s "$kept"
is "where the user cannot change it" "$(stat -c %u "$kept" "${kept%/*}" | tr '\n' ' ')$(stat -c %a "${kept%/*}")" "0 0 700"
is "and the ledger fits it" "$(as user env CORDON_STATE="$(state_of user)" CORDON_LEDGER=off "$CORDON" ledger verify --checkpoint - <"$kept" >/dev/null; echo $?)" 0

fits() { as user env CORDON_STATE="$(state_of user)" CORDON_LEDGER=off "$CORDON" ledger verify --checkpoint - <"$kept"; }
as user cp -r "$(state_of user)/ledger" "$T/submit/older"
notes=$(grep -c '^$' "$kept")
more_notes() { [ "$(grep -c '^$' "$kept")" -gt "$notes" ]; }
batch user --wait <once >/dev/null
ok "the next job adds one" soon more_notes
rm -rf "$(state_of user)/ledger"
as user cp -r "$T/submit/older" "$(state_of user)/ledger"
notes=$(grep -c '^$' "$kept")
batch user --wait <once >/dev/null
soon more_notes
has "a user who rolls the ledger back is found, after later jobs too" "$(fits)" "it was signed for"

# --- both time limits ---
for _ in 1 2 3 4 5 6; do soon ended "$late" && break; done
is "Slurm's own time limit: it says so, and cordon that no limit of its fired" "$(field "$late" JobState) $(jq -c '[.limit, .limits_hit]' <"$T/o/late.json")" "TIMEOUT [null,[]]"
is "nothing is left of it" "$(pgrep -f "^sleep 78[.]$$\$")" ""

# --- an engine that kills by control groups ends the janitor with the keeper: the next start sweeps ---
slurm_down
if grep -q ' /sys/fs/cgroup/freezer ' /proc/mounts; then
        slurm_up cgroup
        i=0
        while [ $i -lt 8 ]; do
                j=$(printf '#!/bin/sh\n%s run -q -- sleep 77.%s\n' "$CORDON" $$ | job -D /)
                soon here_left
                scancel -f -s KILL "$j"
                soon ended "$j"
                i=$((i + 1))
        done
        ok "proctrack/cgroup: killed boxes leave no process" soon none_here
        srun -Q -D / "$CORDON" run -q -- true
        ok "and the next start removes their control groups" none_left
else
        skip "proctrack/cgroup" "no v1 freezer here"
fi
done_testing
