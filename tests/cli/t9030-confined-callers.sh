#!/bin/sh
# A process that is confined in some way has the uid of its user all the same. What cordon keeps for that user - parked boxes, sessions,
# running boxes, questions to a person - gives it nothing that it could not do alone: every way to be confined, at every door.
# shellcheck disable=SC2016,SC2034,SC2154,SC2317
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-serve.sh"
here=$(cd "$(dirname "$0")" && pwd)
if ! "$CORDON" run -q --wall namespace -- true 2>/dev/null; then
        skip "confined callers" "no namespace wall here"
        done_testing
fi
compile confine
root() { "$@"; }

# ---- callers: each runs its words, or ends with 99 where this host has no such thing ----
plain() { "$@"; }
landlocked() { "$T/confine" landlock "$@"; }
landlocked_only() { "$T/confine" bare-landlock "$@"; } # without no_new_privs: by its proof alone
filtered() { "$T/confine" seccomp "$@"; }
no_new_privs() { setpriv --no-new-privs "$@"; }
bounded() { setpriv --bounding-set=-wake_alarm "$@"; }
grouped() { setpriv --groups 12345 "$@"; } # not those of the resident
mounts() { unshare -m "$@"; }
blind() { unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"; } # it cannot reach the keeper's mounts
mapped() { unshare -Ur "$@"; } # a user namespace
network() { if [ "$(id -u)" -eq 0 ]; then unshare -n "$@"; else unshare -Un "$@"; fi; }
pids() { unshare -fp "$@"; }
names() { unshare -u "$@"; }
rooted() { chroot "$T" "$@"; }
limited() { "$T/confine" rlimit "$@"; }
polite() { nice -n 3 "$@"; }
idle_io() { ionice -c 3 "$@"; }
first_killed() { choom -n 600 -- "$@"; }
one_processor() { "$T/confine" cpu "$@"; }
in_group() ( # pids.max
        for at in /sys/fs/cgroup/pids /sys/fs/cgroup; do
                mkdir "$at/t9030-$$" 2>/dev/null || continue
                if echo 64 2>/dev/null >"$at/t9030-$$/pids.max" && sh -c 'echo $$ >"$0"' "$at/t9030-$$/cgroup.procs" 2>/dev/null; then
                        sh -c 'echo $$ >"$0"; exec "$@"' "$at/t9030-$$/cgroup.procs" "$@"
                        code=$?
                        soon rmdir "$at/t9030-$$"
                        exit $code
                fi
                rmdir "$at/t9030-$$"
        done
        exit 99
)
# Those that may do less; those that may only use less, and those with mounts or a root directory of their own, from which the
# keeper's are to be reached through /proc: these may look at boxes and end them.
less="landlocked filtered no_new_privs mapped network"
[ "$(id -u)" -ne 0 ] || less="$less landlocked_only bounded grouped blind pids names rooted"
elsewhere=""
[ "$(id -u)" -ne 0 ] || elsewhere="mounts"
fewer="limited polite idle_io first_killed"
[ "$(id -u)" -ne 0 ] || fewer="$fewer in_group"
[ "$(nproc)" -lt 2 ] || fewer="$fewer one_processor"
exists() { "$1" /bin/true 2>/dev/null || { [ "$1" = rooted ] && [ -e "$T/cordon" ]; }; }
if [ "$(id -u)" -eq 0 ]; then cp "$CORDON" "$T/cordon" && chmod 755 "$T/cordon"; fi

# ---- what there is to take ----
rt=$T/rt who=root
mkdir -m 700 "$rt"
echo SECRET >"$T/d/secret"
printf 'box b\nuse base/system\nread %s\n' "$T/d/secret" >"$T/d/p"
serve
id=""
trap 'code=$?; "$CORDON" stop "$id" 2>/dev/null; "$CORDON" session end "$S" >/dev/null 2>&1; for p in $pids; do kill "$p" 2>/dev/null; done; rm -rf "$T"; exit $code' EXIT
ok "parked boxes" run serve pool add --size 2 -p "$T/d/p" -- cat
S=s$$
ok "a session" run session new "$S" -p "$T/d/p"
run run -d --name "b$$" --limit 'time 100s renew 3 ask' -- sh -c 'echo OUTPUT; sleep 1000' >/dev/null
there() { run ps --json "b$$"; }
ok "a box" soon there
id=$(run ps --json "b$$" | jq -r .run)
run session renew "b$$" >/dev/null 2>&1 & # a question that waits
asked() { python3 "$here/helpers/approver.py" --run "$id" list | grep -q template; }
ok "a question" soon asked
sid=$(run session ls --json | jq -r --arg n "$S" '.[] | select(.name == $n) | .run')

# as CALLER WORD...: cordon as this caller
as() { c=$1 cordon=$CORDON; shift; [ "$c" != rooted ] || cordon=/cordon; $c env XDG_RUNTIME_DIR="$rt" timeout -k 5 60 "$cordon" "$@" </dev/null; }
start() { as "$1" run --json -p "$T/d/p" -- cat "$T/d/secret" 2>&1 >/dev/null | tail -n 1 | jq -r .start 2>/dev/null; }
is_ready() { [ "$(run serve pool stats --json | jq .parked)" -ge 2 ]; }

# ---- what each gets ----
take() { soon is_ready; [ "$(start "$1")" = parked ] && echo yes; }
add() { as "$1" serve pool add --no-wait -p "$T/d/p" -- cat >/dev/null 2>&1 && echo yes; }
list() { as "$1" serve pool ls >/dev/null 2>&1 && echo yes; }
join() { as "$1" session run "$sid" -q -- cat "$T/d/secret" 2>/dev/null | sed 's/SECRET/yes/'; }
see() { [ "$(as "$1" ps --json "$id" 2>/dev/null | jq -r '.run?' 2>/dev/null)" = "$id" ] && echo yes; }
hear() { as "$1" logs "$id" 2>/dev/null | sed 's/OUTPUT/yes/'; }
approve() { "$1" python3 "$here/helpers/approver.py" --run "$id" list 2>/dev/null | grep -q items && echo yes; }
halt() { as "$1" stop "$id" >/dev/null 2>&1; there >/dev/null || echo yes; }
finish() { as "$1" session end "$sid" >/dev/null 2>&1; run session ls --json | grep -q "$sid" || echo yes; }
services="take add list join see hear approve halt finish"
for service in take add list join see hear approve; do
        is "plain: $service" "$($service plain)" yes
done

for caller in $less; do
        if ! exists "$caller"; then
                skip "$caller" "this host has no such confinement for us"
                continue
        fi
        for service in $services; do
                # Approvers speak a protocol without that proof; Landlock without no_new_privs takes CAP_SYS_ADMIN.
                [ "$caller $service" != "landlocked_only approve" ] || continue
                is "$caller gets nothing: $service" "$($service "$caller")" ""
        done
done
for caller in $fewer; do
        if ! exists "$caller"; then
                skip "$caller" "this host has no such confinement for us"
                continue
        fi
        for service in take add list join; do
                is "$caller gets nothing: $service" "$($service "$caller")" ""
        done
        for service in see hear approve; do
                is "$caller: $service" "$($service "$caller")" yes
        done
done
for caller in $elsewhere; do
        exists "$caller" || { skip "$caller" "this host has no such confinement for us"; continue; }
        for service in take add list join approve finish; do
                is "$caller gets nothing: $service" "$($service "$caller")" ""
        done
        for service in see hear; do
                is "$caller: $service" "$($service "$caller")" yes
        done
done

# ---- lists: what a caller may not see is left out, and makes nothing fail ----
as_json() { as "$@" --json 2>"$T/said"; }
holds() { jq -e --arg id "$1" 'any(.[]; .run == $id)' >/dev/null; }
said() { grep -c 'left out' "$T/said"; }
for caller in plain $fewer $elsewhere; do
        exists "$caller" || continue
        ok "$caller: ps lists the box" sh -c 'exit "$0"' "$(as_json "$caller" ps | holds "$id"; echo $?)"
        ok "$caller: session ls lists the session" sh -c 'exit "$0"' "$(as_json "$caller" session ls | holds "$sid"; echo $?)"
done
for caller in $less; do
        # In another network namespace, or with another uid, there is no box to leave out; without /proc there is no list.
        case $caller in network | blind | rooted) continue ;; mapped) [ "$(id -u)" -eq 0 ] || continue ;; esac
        exists "$caller" || continue
        is "$caller: ps ends well, says once what it leaves out, and lists neither" \
                "$(as_json "$caller" ps >"$T/list"; echo $?; said; holds "$id" <"$T/list" || holds "$sid" <"$T/list" || echo neither)" "0
1
neither"
        is "$caller: so does session ls" "$(as_json "$caller" session ls >"$T/list"; echo $?; said; holds "$sid" <"$T/list" || echo not)" "0
1
not"
        is "$caller: stop names the box" "$(as "$caller" stop "$id" 2>&1 | grep -c "the box $id: ")" 1
        is "$caller: logs, too" "$(as "$caller" logs "$id" 2>&1 | grep -c "the box $id: ")" 1
        is "$caller: a name that is no box's is that" "$(as "$caller" stop "none$$" 2>&1 | grep -c "no box named none$$")" 1
        is "$caller: a run that it cannot ask is not one without an end" "$(as "$caller" ledger health --json 2>/dev/null | grep -o '"runs_unfinished":[0-9]*')" '"runs_unfinished":0'
done
has "a run that starts cold says why" "$(as limited run --json -p "$T/d/p" -- true 2>&1 >/dev/null | tail -n 1 | jq -r .start_why)" "resource limits"
has "a command for a session, too" "$(as limited session run "$sid" -- true 2>&1)" "resource limits"
is "plain: finish" "$(finish plain)" yes
is "plain: halt" "$(halt plain)" yes
done_testing
