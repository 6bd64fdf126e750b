# tests/engines/lib-slurm.sh - a Slurm cluster of one node for a test: munged, slurmctld and slurmd of Debian's packages, all state
# in $D, ended by their pids. Sourced before tests/cli/lib.sh.
#   slurm_alone "$@"         starts the script again in a network namespace of its own, so that no port is taken; ends it as skipped
#                            if the engine cannot be started
#   slurm_up PROCTRACK [LINE...]   with these further lines of slurm.conf; waits until the node is idle
#   slurm_down
#   field JOB NAME           of `scontrol show job`
#   ended JOB                true if it is over
#   job ARGUMENT...          sbatch of a script from the standard input; prints the job's id
# shellcheck shell=sh disable=SC2154
slurm_alone() {
        [ -z "${SLURM_ALONE-}" ] || return 0
        missing=
        for p in munged slurmctld slurmd srun unshare ip; do command -v $p >/dev/null || missing="no $p: tools/deps engines installs it"; done
        [ "$(id -u)" -eq 0 ] || missing="slurmd starts jobs of several users: it needs root"
        [ -z "$missing" ] || { echo "ok 1 - $(basename "$0" .sh) # SKIP $missing"; echo 1..1; exit 0; }
        SLURM_ALONE=1 unshare -n sh "$0" "$@"
        exit $?
}
slurm_conf() {
        track=$1
        shift
        cat <<E
ClusterName=t
SlurmctldHost=$H(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SrunPortRange=16900-16999
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$D/munge/sock
CredType=cred/munge
StateSaveLocation=$D/state
SlurmdSpoolDir=$D/spool
SlurmctldPidFile=$D/slurmctld.pid
SlurmdPidFile=$D/slurmd.pid
SlurmctldLogFile=$D/log/slurmctld
SlurmdLogFile=$D/log/slurmd
ProctrackType=proctrack/$track
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$D/log/jobcomp
MpiDefault=none
SwitchType=switch/none
SlurmdParameters=config_overrides
ReturnToService=2
PropagateResourceLimits=NONE
KillWait=3
MinJobAge=900
MailProg=/bin/true
PlugStackConfig=$D/conf/plugstack.conf
NodeName=$H NodeAddr=127.0.0.1 CPUs=8 RealMemory=4000 State=UNKNOWN
PartitionName=p Nodes=$H Default=YES MaxTime=INFINITE State=UP
E
        for line; do echo "$line"; done
}
idle() { sinfo -h -o %t | grep -q -E 'idle|mix|alloc'; }
slurm_up() {
        D=$T/slurm H=$(hostname -s)
        mkdir -p "$D" "$D/munge" "$D/conf" "$D/state" "$D/spool" "$D/log"
        # Names do not resolve where only a loopback is up (AI_ADDRCONFIG): an address that leads nowhere.
        ip link show cordon0 >/dev/null 2>&1 || {
                ip link set lo up && ip link add cordon0 type veth peer name cordon1 && ip addr add 192.0.2.1/24 dev cordon0 &&
                        ip link set cordon0 up && ip link set cordon1 up
        }
        head -c 128 /dev/urandom >"$D/munge/key" && chmod 400 "$D/munge/key"
        : >"$D/conf/plugstack.conf"
        printf '%s\n' CgroupPlugin=cgroup/v1 CgroupAutomount=no ConstrainCores=no ConstrainRAMSpace=no ConstrainSwapSpace=no ConstrainDevices=no >"$D/conf/cgroup.conf"
        slurm_conf "$@" >"$D/conf/slurm.conf"
        SLURM_CONF=$D/conf/slurm.conf
        export SLURM_CONF
        munged -F --force --key-file="$D/munge/key" --socket="$D/munge/sock" --pid-file="$D/munge/pid" --log-file="$D/munge/log" \
                --seed-file="$D/munge/seed" >/dev/null 2>&1 &
        soon test -S "$D/munge/sock" || { fail "munged starts" "$(cat "$D/munge/log")"; slurm_down; done_testing; }
        setsid slurmctld -D -c -f "$SLURM_CONF" >"$D/log/slurmctld.out" 2>&1 &
        setsid slurmd -D -f "$SLURM_CONF" >"$D/log/slurmd.out" 2>&1 &
        soon idle || { fail "the node is up" "$(tail -n 5 "$D/log/slurmd" "$D/log/slurmctld")"; slurm_down; done_testing; }
}
# The daemons are stopped, steps first, and waited for.
slurm_down() {
        for f in slurmd.pid slurmctld.pid munge/pid; do
                p=$(cat "$D/$f" 2>/dev/null) || continue
                kill "$p" 2>/dev/null
                soon eval "! kill -0 $p" || kill -KILL "$p"
        done
        # proctrack/cgroup leaves its groups.
        find "/sys/fs/cgroup/freezer/slurm_$H" -depth -type d -exec rmdir {} \; 2>/dev/null
        rm -rf "$D/state" "$D/spool" "$D/munge"
}
field() { scontrol -o show job "$1" | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1; }
ended() { case $(field "$1" JobState) in PENDING | RUNNING | COMPLETING | CONFIGURING) return 1 ;; esac; }
running() { [ "$(field "$1" JobState)" = RUNNING ]; }
job() { sbatch --parsable -o "$T/out.%j" "$@"; }
