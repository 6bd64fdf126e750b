# tests/cli/lib-work.sh - for tests of edit doors, instead of lib.sh. $who is root or as_user, $D its directory, $D/p the tree
# behind the door.
#   edit SCRIPT     a fresh box on $D/p; $run is its layer
#   fresh SETUP     $D/p made anew, by a script that runs in it
#   tree DIRECTORY  everything about what lies there, as text
# shellcheck shell=sh disable=SC2034
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
cd "$T" || exit 1
root() { "$@"; }
tree() { python3 "$here/helpers/tree.py" "$1"; }
mine() { [ "$(id -u)" -ne 0 ] || [ "$who" = root ] || chown -R 65533:65533 "$D"; }
fresh() {
        chmod -R u+rwX "$D" 2>/dev/null
        rm -rf "$D" && mkdir -p "$D/p" && (cd "$D/p" && eval "$1") && mine
}
edit() {
        $who "$CORDON" run -q --no-stdin --edit "$D/p" --cwd "$D/p" --status-fd 3 -- sh -c "$1" 3>status 2>err || cat err
        run=$(jq -r '.work.layer // ""' status)
}
# Goes on in a copy of this layer, changes nothing, and prints the id of the copy.
copied() { $who "$CORDON" run -q --no-stdin --json --on "$1" --copy --keep --edit "$D/p" -- true 2>&1 >/dev/null | jq -r '.work.layer // ""'; }
cordon() { $who "$CORDON" "$@" 2>&1; }
