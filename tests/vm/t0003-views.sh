#!/bin/sh
# What leans on the kernel's filesystems and on notifications, on this kernel: refusals told with their path, and edit
# doors from the change to the undo; as root and as an ordinary user.
# shellcheck disable=SC2317
. "$(dirname "$0")/../cli/lib.sh"
cd "$T" || exit 1
chmod 755 "$T"
mkdir home && chown 65533:65533 home
user() { as_user env HOME="$T/home" "$@"; }
root() { env HOME=/root "$@"; }

# views WHO: a tree of its own in $WHO
views() {
        who=$1
        mkdir "$who" && printf 'one\n' >"$who/changed" && printf 'two\n' >"$who/removed" 
        [ "$who" = root ] || chown -R 65533:65533 "$who"
        tree=$T/$who key=/srv/$who.key
        mkdir -p /srv && echo key >"$key"

        "$who" "$CORDON" run --json --status-fd 3 -- sh -c "cat $key" 3>status 2>err
        is "$who: a hidden file is not there" "$?" 1
        has "$who: the refusal that ends a command is told with its path" "$(cat status)" "$key"
        "$who" "$CORDON" run --json --status-fd 3 -- sh -c "cat $key; :" 3>status >/dev/null 2>&1
        has "$who: and so is that of a command that goes on" "$(cat status)" "$key"
        "$who" "$CORDON" run --observe off -- sh -c "cat $key" >/dev/null 2>&1
        is "$who: unobserved it is not there either" "$?" 1

        "$who" "$CORDON" run -q --keep --edit "$tree" -- sh -c "cd $tree && echo more >>changed && rm removed && mkdir sub && echo new >sub/new" 2>err
        is "$who: a box changes what is behind an edit door" "$? $(cat err)" "0 "
        is "$who: and the tree outside is as it was" "$(cat "$who/changed" "$who/removed"; ls "$who")" "one
two
changed
removed"
        "$who" "$CORDON" diff --name-only >names 2>err
        is "$who: diff names what changed" "$(sort names | sed "s|^$tree/||" | tr '\n' ' ')" "changed removed sub sub/new "
        "$who" "$CORDON" apply >said 2>&1
        is "$who: apply carries it out" "$? $(cat "$who/changed" "$who/sub/new" 2>&1; ls "$who")" "0 one
more
new
changed
sub"
        "$who" "$CORDON" undo >/dev/null 2>err
        is "$who: undo takes it back" "$? $(cat "$who/changed" "$who/removed" 2>&1; ls "$who")" "0 one
two
changed
removed"
}
views root
views user
done_testing
