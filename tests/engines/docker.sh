#!/bin/sh
# docker.io as it is packaged: a daemon of the test's own, in mounts of its own and with all state in the test's directory, ended by its pid.
# alone: it counts what is left on the whole machine
# shellcheck disable=SC1091,SC2016,SC2034,SC2086,SC2317
here=$(cd "$(dirname "$0")/../cli" && pwd)
missing=
for p in dockerd docker runc unshare; do command -v $p >/dev/null || missing="no $p: tools/deps engines installs it"; done
[ "$(id -u)" -eq 0 ] || missing="dockerd needs root"
[ -z "$missing" ] || { echo "ok 1 - docker # SKIP $missing"; echo 1..1; exit 0; }
# /run is the test's own, as its network is: nothing of the machine's docker is met.
[ -n "${DOCKER_ALONE-}" ] || { DOCKER_ALONE=1 unshare -m -n sh -c 'mount -t tmpfs none /run && exec sh "$0"' "$0"; exit $?; }
. "$here/lib.sh"
. "$(dirname "$0")/lib-container.sh"
cd "$T" || exit 1
before=$(orphans)
image "$T/made"
IMAGE=cordon-job:1 D=$T/docker parent=test-cordon-$$
mkdir "$D"
export DOCKER_HOST="unix://$D/sock" DOCKER_CONFIG="$D/config" DOCKER_BUILDKIT=0
dockerd --data-root "$D/data" --exec-root "$D/exec" --host "$DOCKER_HOST" --pidfile "$D/pid" --iptables=false --ip6tables=false --bridge=none \
        --storage-driver vfs --cgroup-parent "/$parent" >"$D/log" 2>&1 &
daemon=$!
down() {
        kill "$daemon" 2>/dev/null
        wait "$daemon" 2>/dev/null
        for d in /sys/fs/cgroup/*/"$parent" /sys/fs/cgroup/"$parent"; do [ ! -d "$d" ] || soon rmdir "$d"; done
}
trap 'down; remove "$T"' EXIT
answers() { timeout 5 docker version >/dev/null 2>&1; }
if ! soon answers; then
        skip "docker" "the daemon does not start here: $(tail -n 1 "$D/log" | cut -c1-160)"
        done_testing
fi
run() { timeout 60 docker run --rm --network none "$@"; }
is "the base is imported" "$(tar -C "$T/made/base" -c . | docker import - base:1 >/dev/null 2>err; echo $?)" 0
is "contrib/container builds" "$(docker build -q --network none -f "$T/made/context/Containerfile" --build-arg BASE=base:1 -t $IMAGE "$T/made/context" >/dev/null 2>err; echo $?)" 0
cat >kinds.list <<'E'
as it comes| process |
read-only root| process |--read-only --tmpfs /var/lib/cordon:mode=1777
no capability| process |--cap-drop all --security-opt no-new-privileges
a uid without a passwd entry| process |--user 12345:12345
no filter| process |--security-opt seccomp=unconfined
no filter, /proc not masked| namespace |--security-opt seccomp=unconfined --security-opt systempaths=unconfined
the same, no capability, read-only| namespace |--security-opt seccomp=unconfined --security-opt systempaths=unconfined --cap-drop all --read-only --tmpfs /var/lib/cordon:mode=1777
E
kinds run kinds.list
docker run -d --network none --name stopped --entrypoint /usr/local/bin/cordon $IMAGE run -- sh -c 'trap "echo drained; exit 0" TERM; echo serving; while :; do sleep 0.1; done' >/dev/null 2>&1
serving() { docker logs stopped 2>/dev/null | grep -q serving; }
soon serving
docker stop -t 10 stopped >/dev/null
is "docker stop lets the payload drain" "$(docker inspect --format '{{.State.ExitCode}}' stopped):$(docker logs stopped 2>/dev/null | tail -n 1)" 0:drained
docker rm stopped >/dev/null
ok "no control group is left" none_left
done_testing
