# tests/engines/lib-container.sh - what the tests with containers share: the image of contrib/container with busybox as its base, and what is
# asked of a container. Sourced after tests/cli/lib.sh.
#   image DIR                DIR/base (a root of busybox), DIR/context (for contrib/container/Containerfile)
#   kinds ENGINE FILE        each line of FILE: NAME | WALL | OPTIONS, `ENGINE OPTIONS... IMAGE COMMAND...` runs it
# shellcheck shell=sh disable=SC2154
image() {
        command -v busybox >/dev/null || { skip "$(basename "$0" .sh)" "no busybox: tools/deps engines installs it"; done_testing; }
        mkdir -p "$1/base/bin" "$1/base/tmp" "$1/base/etc" "$1/base/proc" "$1/context/libexec"
        cp "$(command -v busybox)" "$1/base/bin/busybox"
        for a in sh cat ls id sleep true echo env head mount unshare mkdir chmod; do ln -s busybox "$1/base/bin/$a"; done
        echo "SECRET OF THE CONTAINER" >"$1/base/secret"
        chmod 1777 "$1/base/tmp"
        cp "$CORDON" "$1/context/cordon" && cp "$CORDON_LIBEXEC/cordon-init" "$1/context/libexec/"
        printf 'limit time 60s\nlimit memory 64M\n' >"$1/context/job.policy"
        cp "${CORDON_SOURCE:-$here/../..}/contrib/container/Containerfile" "$1/context/"
        chmod -R a+rX "$1/base" "$1/context"
}
kinds() {
        engine=$1
        while IFS='|' read -r name wall options; do
                # shellcheck disable=SC2086
                set -f && set -- $options && set +f
                said=$($engine "$@" --entrypoint /usr/local/bin/cordon "$IMAGE" doctor 2>&1 </dev/null | head -n 1)
                has "$name: doctor says the$wall wall in its first line" "$said" "boxes                  the${wall}wall"
                out=$($engine "$@" "$IMAGE" sh -c 'echo hello; exit 7' 2>"$T/err" </dev/null)
                is "$name: a box runs, with its exit status" "$?:$out" 7:hello
                is "$name: the note of the process wall" "$(grep -c 'the process wall, without namespaces' "$T/err")" "$([ "$wall" = " process " ] && echo 1 || echo 0)"
                hasnt "$name: and is recorded" "$(cat "$T/err")" "not all of this run is recorded"
                out=$($engine "$@" "$IMAGE" cat /secret 2>&1 </dev/null)
                hasnt "$name: what the container sees, the box does not" "$out" SECRET
                out=$($engine "$@" --entrypoint /usr/local/bin/cordon "$IMAGE" run -q --time 300ms -- sleep 20 2>&1 </dev/null)
                is "$name: a limit" $? 124
        done <"$2"
}
