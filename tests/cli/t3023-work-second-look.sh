#!/bin/sh
# What a second pair of eyes found in the workspace: repositories of any name, links inside the tree, modes after a kill, hard
# links over filesystems, marks of overlayfs in the tree below, closed tops.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-work.sh"
trap 'code=$?; umount -l "$T/other" 2>/dev/null; chmod -R u+rwX "$T" 2>/dev/null; rm -rf "$T"; exit $code' EXIT
trap 'exit 130' INT TERM
# fresh SETUP: $D/p made anew
fresh() {
        chmod -R u+rwX "$D" 2>/dev/null
        rm -rf "$D" && mkdir -p "$D/p" && (cd "$D/p" && eval "$1") && mine
}
flags_of() { cordon diff --json "$run" | jq -r --arg p "$1" '.entries[] | select(.path == $p) | .flags | join(", ")'; }

# A directory of any name is a repository to git, which then obeys its config: whoever stands in it and asks for the status runs it.
who=root D=$T/repository
fresh 'mkdir docs half; echo "ref: refs/heads/main" >half/HEAD; mkdir half/objects'
edit 'mkdir -p docs/x/objects docs/x/refs; echo "ref: refs/heads/main" >docs/x/HEAD; printf "[core]\n\tfsmonitor = touch /tmp/x\n" >docs/x/config; mkdir plain; echo c >plain/config; mkdir half/refs; echo ../docs/x >docs/commondir; mkdir .git; echo r >.git/HEAD; echo g >.gith'
for path in docs/x/HEAD docs/x/config docs/x/objects docs/x/refs half/refs; do
        is "$path makes a repository" "$(flags_of $path)" "inside a git directory"
done
for path in plain/config docs/commondir .git/HEAD; do
        is "$path makes none, or is known" "$(flags_of $path)" ""
done
cordon apply "$run" >out
has "an apply holds its config back" "$(cat out)" "held back: docs/x/config: inside a git directory"
ok "and it is not there" test ! -e "$D/p/docs/x/config"
done_testing
