#!/bin/sh
# podman as it is packaged, as root and rootless: boxes in containers, cordon as the image's entrypoint; and the manifests of
# contrib/kubernetes as pods. Storage, state and runtime directories are the test's own.
# alone: it counts what is left on the whole machine
# shellcheck disable=SC1091,SC2016,SC2034,SC2086,SC2094,SC2317
here=$(cd "$(dirname "$0")/../cli" && pwd)
. "$here/lib.sh"
. "$(dirname "$0")/lib-container.sh"
cd "$T" || exit 1
chmod 711 "$T"
for p in podman runc; do command -v $p >/dev/null || { skip podman "no $p: tools/deps engines installs it"; done_testing; }; done
before=$(orphans)
source=${CORDON_SOURCE:-$here/../..}
image "$T/made"
IMAGE=localhost/cordon-job:1
# A rootless podman needs a range of ids.
rootless=$(cut -d: -f1 /etc/subuid 2>/dev/null | head -n 1)
if [ "$(id -u)" -eq 0 ]; then whos="root${rootless:+ $rootless}"; else whos=$(id -un); fi
[ -n "$rootless" ] || skip "rootless" "no account has a range in /etc/subuid"
as() { if [ "$who" = "$(id -un)" ]; then "$@"; else setpriv --reuid "$who" --regid "$(id -g "$who")" --init-groups "$@"; fi; }
pm() {
        as env HOME="$D" XDG_RUNTIME_DIR="$D/xdg" XDG_CONFIG_HOME="$D/config" XDG_DATA_HOME="$D/data" CONTAINERS_CONF="$D/containers.conf" timeout 120 \
                podman --root "$D/root" --runroot "$D/runroot" --tmpdir "$D/tmp" --storage-driver vfs "$@" 2>"$T/pm.err"
        code=$?
        grep -v -e 'is not a shared mount' -e '^$' "$T/pm.err" >&2
        return $code
}
run() { pm run --rm --network none "$@"; }
up() {
        D=$T/pm-$who
        mkdir -p "$D/xdg" && chmod 700 "$D/xdg"
        # Root may lack CAP_SYS_RESOURCE: no limit above its own. runc, because crun refuses hosts with both kinds of control groups.
        cat >"$D/containers.conf" <<E
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
runtime = "runc"
infra_image = "localhost/pause:1"
E
        [ "$who" = "$(id -un)" ] || chown -R "$who:$(id -g "$who")" "$D"
}
# A rootless podman leaves a process that holds its namespaces; its files belong to ids of the range.
down() {
        pm rm -a -f >/dev/null 2>&1
        pm pod rm -a -f >/dev/null 2>&1
        [ "$who" = root ] || pm unshare rm -rf "$D/root" "$D/data" 2>/dev/null
        find "$D" -name pause.pid 2>/dev/null | while read -r f; do kill "$(cat "$f")" 2>/dev/null; done
        rm -rf "$D"
}
trap 'for who in $whos; do D=$T/pm-$who; [ ! -d "$D" ] || down; done; remove "$T"' EXIT
cat >kinds.list <<'E'
as it comes| process |
read-only root| process |--read-only --tmpfs /var/lib/cordon
no capability| process |--cap-drop all --security-opt no-new-privileges
a uid without a passwd entry| process |--user 12345:12345
/proc not masked| process |--security-opt unmask=ALL
/proc not masked, no filter| namespace |--security-opt unmask=ALL --security-opt seccomp=unconfined
the same, no capability, read-only| namespace |--security-opt unmask=ALL --security-opt seccomp=unconfined --cap-drop all --read-only --tmpfs /var/lib/cordon
E

for who in $whos; do
        up
        echo "# $who"
        tar -C "$T/made/base" -c . >"$T/base.tar"
        is "$who: the base is imported" "$(pm import -q "$T/base.tar" localhost/base:1 >/dev/null 2>&1; echo $?)" 0
        is "$who: contrib/container builds" "$(pm build -q --network none --build-arg BASE=localhost/base:1 -t $IMAGE "$T/made/context" >/dev/null 2>"$T/err"; echo $?)" 0
        kinds run kinds.list

        # --- a container is stopped: SIGTERM reaches the payload; the ledger is in the volume ---
        pm run -d --network none --name stopped --entrypoint /usr/local/bin/cordon $IMAGE run -- sh -c 'trap "echo drained; exit 0" TERM; echo serving; while :; do sleep 0.1; done' >/dev/null
        serving() { pm logs stopped | grep -q serving; }
        soon serving
        pm stop -t 10 stopped >/dev/null
        is "$who: podman stop lets the payload drain" "$(pm inspect --format '{{.State.ExitCode}}' stopped):$(pm logs stopped 2>/dev/null | tail -n 1)" 0:drained
        out=$(run --memory 512m $IMAGE sh -c 'head -c 300000000 /dev/zero | sort >/dev/null 2>&1 || true; x=$(head -c 300000000 /dev/zero | busybox tr "\\0" x)' 2>&1)
        has "$who: the box's memory limit fires before the container's" "$out" "memory"

        # --- pods ---
        if ! tar -C "$T/made/base" -c . | pm import -q -c 'ENTRYPOINT ["/bin/sleep","1000"]' - localhost/pause:1 >/dev/null 2>&1; then
                skip "$who: pods" "no image for the pod's own container"
        else
                # Rootless, control groups v1 are not for it.
                drop=/never/d
                [ "$who" = root ] || drop='/resources:/,/memory: 512Mi/d'
                sed "$drop" "$source/contrib/kubernetes/job.yaml" >job.yaml
                # podman 4.3 plays Pods and Deployments: the Job's template as a pod.
                awk '/^---/ { job = 1; print; print "apiVersion: v1\nkind: Pod\nmetadata:\n  name: cordon-run\nspec:"; next }
                        !job { print; next }
                        /^    spec:/ { spec = 1; next }
                        spec { print substr($0, 5) }' job.yaml >pod.yaml
                is "$who: job.yaml as a pod" "$(pm play kube --network none pod.yaml >play 2>&1; echo $?)" 0
                over() { [ "$(pm inspect --format '{{.State.Status}}' cordon-run-box)" = exited ]; }
                ok "$who: it ends" soon over
                is "$who: with the box's status and output" "$(pm inspect --format '{{.State.ExitCode}}' cordon-run-box):$(pm logs cordon-run-box 2>/dev/null)" "0:run in a box"
                is "$who: deployment.yaml as pods" "$(sed 's/replicas: 2/replicas: 1/' "$source/contrib/kubernetes/deployment.yaml" >deployment.yaml; pm play kube --network none deployment.yaml >play 2>&1; echo $?)" 0
                worker=$(pm ps --format '{{.Names}}' | grep worker | grep -v infra | head -n 1)
                serves() { pm logs "$worker" 2>/dev/null | grep -q serving; }
                ok "$who: the worker serves in a box" soon serves
                pm stop -t 10 "$worker" >/dev/null
                has "$who: and drains" "$(pm logs "$worker" 2>/dev/null)" drained
                # A user namespace of its own: every rootless pod has one; podman 4.3 does not know hostUsers, nor procMount.
                run --security-opt unmask=ALL --security-opt seccomp=unconfined --cap-drop all --entrypoint /usr/local/bin/cordon $IMAGE run --wall namespace -- echo behind the namespace wall >out 2>&1
                has "$who: what userns-pod.yaml asks for is enough for the namespace wall" "$(cat out)" "behind the namespace wall"
        fi
        down
done
ok "no control group is left" none_left
done_testing
