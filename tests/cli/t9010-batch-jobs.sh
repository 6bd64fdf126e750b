#!/bin/sh
# A batch job, by its variables alone: no engine is needed. A payload that ignores TERM does not outlive its job, nor does a
# detached box; the record of a run names the job. tests/engines has the real ones.
# shellcheck disable=SC2016,SC2034,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
cd "$T" || exit 1
before=$(orphans)
stubborn='trap "" TERM; echo began; while :; do sleep 0.05; done'
gone() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status"; }
not_listed() { ! "$CORDON" ps | grep -q "$1"; }

# --- SIGTERM, and a payload that ignores it. Those that wait for the grace period wait side by side. ---
for wall in namespace process; do
        sh -c '"$1" run --wall "$2" -- sh -c "$3" >out.$2 2>err.$2 & echo $! >pid.$2; wait' sh "$CORDON" $wall "$stubborn" &
        shell=$!
        soon grep -q began out.$wall
        kill -KILL $shell
        kill -TERM "$(cat pid.$wall)"
done
"$CORDON" run -- sh -c "$stubborn" >out 2>err &
keeper=$!
soon grep -q began out
kill -TERM $keeper
kill -TERM $keeper
sleep 1.2
ok "two SIGTERM in a row are one: timeout(1) sends it so" kill -0 $keeper
kill -TERM $keeper
wait $keeper
is "a second SIGTERM kills the box" "$?:$(grep -c 'SIGTERM came twice' err)" 137:1
for wall in namespace process; do
        ok "$wall: without its parent cordon kills a box that goes on after SIGTERM" soon gone "$(cat pid.$wall)"
        has "$wall: and says so" "$(cat err.$wall)" "box killed: still running after SIGTERM"
done

# --- detached in a job ---
in_job() { SLURM_JOB_ID=77 sh -c 'SLURM_TASK_PID=$$ "$@"; sleep 1' sh "$CORDON" run -d "$@" 2>err; } # a script that goes on for a second
polite=$(in_job --name polite -- sleep 60)
has "a detached box in a job: the note" "$(cat err)" "this is Slurm job 77: the box ends with it"
ok "it ends with the job" soon not_listed "$polite"
rude=$(in_job --name rude -- sh -c "$stubborn")
ok "so does one that ignores SIGTERM" soon not_listed "$rude"
session=$(PBS_JOBID=12.host setsid -w sh -c '"$@"; sleep 1' sh "$CORDON" run -q -d -- sleep 60 2>err)
ok "an engine without such a variable: with the leader of the session" soon not_listed "$session"
is "-q: no note" "$(cat err)" ""
is "the task of a job itself" "$(SLURM_JOB_ID=77 status sh -c 'SLURM_TASK_PID=$$ exec "$@"' sh "$CORDON" run -d -- true):$(grep -c 'ends when this command returns' "$T/err")" 125:1
sleep 100 &
other=$!
id=$(SLURM_JOB_ID=77 SLURM_TASK_PID=$other "$CORDON" run -d -- sleep 60 2>err)
has "variables of another job are not believed" "$(cat err)" "its leader process was not found"
kill $other
sleep 0.7
ok "and the end of that process ends nothing" "$CORDON" stop -k "$id"

# --- in the foreground ---
SLURM_JOB_ID=77 sh -c 'SLURM_TASK_PID=$$ setsid "$@" >out 2>&1 & echo $! >pid; sleep 1' sh "$CORDON" run -- sh -c "$stubborn"
ok "a box that nobody signals ends with its job too" soon gone "$(cat pid)"
is "an exit status passes" "$(SLURM_JOB_ID=77 status "$CORDON" run -- sh -c 'exit 5')" 5
hasnt "no variable of the job is in the box" "$(SLURM_JOB_ID=77 SLURM_TASK_PID=1 "$CORDON" run -- env)" SLURM

# --- records ---
job_of() { "$CORDON" ledger --json --kind start | jq -r 'select(.more.job) | .more.job' | sort -u; }
is "the ledger names the job" "$(job_of | tr '\n' ';')" "PBS 12.host;Slurm 77;"
PBS_JOBID='1;rm' "$CORDON" run -q -- true
is "what is no id is not recorded" "$(job_of | wc -l)" 2
# asks JOB: the boxes of that job's records
asks() { "$CORDON" ledger --json --job "$1" 2>/dev/null | jq -r .box | sort -u | tr '\n' ' '; }
for k in 1 2; do SLURM_JOB_ID=9$k SLURM_ARRAY_JOB_ID=90 SLURM_ARRAY_TASK_ID=$k "$CORDON" run -q --name task$k -- echo out >/dev/null; done
is "what a job did: by its id, with its engine, by its task, by its array" "$(asks 91):$(asks 'Slurm 92'):$(asks 90_2):$(asks 90)" "task1 :task2 :task2 :task1 task2 "
is "all of it" "$("$CORDON" ledger --json --job 91 | jq -r 'select(.phase != "denied") | .kind' | tr '\n' ' ')" "start output end "
is "and nothing of others" "$(asks 9):$(asks 90_3):$(asks Slurm):$(asks '')" :::
is "the newest only, and of several ledgers" "$("$CORDON" ledger --job 90 -n 1 --from "$CORDON_STATE" 2>&1 | grep -c ' end ')" 1
has "show names job and task" "$("$CORDON" ledger show task2)" "  job      Slurm 92
  task     90_2"
ok "nothing is left" none_left

# --- the prolog of contrib/slurm: it never fails, and says what is wrong ---
if [ "$(id -u)" -eq 0 ]; then
        mkdir fake && ln -s "$(command -v true)" fake/logger # nothing for the system's log
        says() { PATH=$T/fake:$PATH CORDON_STATES=$T/jobs SLURM_JOB_UID=65533 CORDON=$1 sh "${CORDON_SOURCE:-$here/../..}/contrib/slurm/prolog" 2>&1; echo $?; }
        chmod 711 "$T"
        is "the prolog makes the state directory of a job's user" "$(says "$CORDON"):$(stat -c '%u %a' jobs/65533):$(stat -c %a jobs)" "0:65533 700:711"
        has "and says that there is no cordon" "$(says /nowhere/cordon)" "there is no program /nowhere/cordon"
        chmod 700 jobs
        has "and that the user cannot reach it" "$(says "$CORDON")" "uid 65533 cannot write $T/jobs/65533"
        rm -rf jobs
else
        skip "the prolog" "it is root's"
fi

# --- an engine that kills all of a job at once, keepers and janitors ---
for _ in 1 2 3; do
        "$CORDON" run -q -- sh -c 'echo began; sleep 60' >out &
        keeper=$!
        soon grep -q began out
        janitor=$(for p in $(cat "/proc/$keeper/task/$keeper/children"); do [ "$(cat "/proc/$p/comm")" != cordon-janitor ] || echo "$p"; done)
        kill -STOP $janitor 2>/dev/null
        kill -KILL $keeper $janitor 2>/dev/null
        wait $keeper 2>/dev/null
done
"$CORDON" run -q -- true
ok "the next start removes their control groups" none_left
done_testing
