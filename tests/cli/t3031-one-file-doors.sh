#!/bin/sh
# A `write` door for one file survives programs that save by tmp + rename: the box has a copy in a private directory, and
# what it made of it is on the host when the run is over. A file that changed on the host meanwhile is never overwritten.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
root() { "$@"; }
box() { $who env CORDON_LEDGER=off "$CORDON" run -q --wall namespace "$@" </dev/null 2>&1; }
ino() { stat -c %i "$1"; }
# While the box waits, the host does something: the box says when it is ready, and goes on when its input ends.
meanwhile() {
        mkfifo go && rm -f said && : >said && chmod 666 go said
        ($who env CORDON_LEDGER=off "$CORDON" run -q --wall namespace --write conf -- \
                sh -c "echo ready; read x; $1" <go >said 2>&1; echo "rc=$?" >>said) &
        exec 7>go
        ok "$who: the box is ready" soon grep -q ready said
        eval "$2"
        exec 7>&-
        wait
        rm go
}
for who in root as_user; do
        W="$T/$who.one" && mkdir "$W" && chmod 777 "$W" && cd "$W" || exit 1
        S=$(state_of $who)
        new() { rm -rf "${W:?}"/* && echo one | $who tee conf >/dev/null && $who chmod "${1:-640}" conf; }
        new
        if [ "$(box --plan --write conf -- true | grep -c '^copy ')" -eq 0 ]; then
                skip "$who: saving by rename" "single files are not copied here"
                continue
        fi

        before=$(ino conf)
        is "$who: sed -i" "$(box --write conf -- sed -i s/one/two/ conf; cat conf)" two
        is "$who: is a new file with the same mode" "$(stat -c '%a %u' conf)" "640 $($who id -u)"
        hasnt "$who: of another inode" "=$(ino conf)=" "=$before="
        new && before=$(ino conf) && ln conf second
        is "$who: what is written in place" "$(box --write conf -- sh -c 'echo more >>conf'; cat second)" "one
more"
        is "$who: stays the same inode" "$(ino conf)" "$before"
        new
        is "$who: os.replace of a file beside it" \
                "$(box --write conf -- sh -c 'echo three >conf.tmp && mv conf.tmp conf && touch rest && ls'; cat conf; ls)" "conf
rest
three
conf"
        new
        is "$who: a file that the box removed is gone" "$(box --write conf -- rm conf; ls)" ""
        new && before=$(stat -c '%i %Y %Z' conf)
        is "$who: one that is only read is not touched" "$(box --write conf -- cat conf; stat -c '%i %Y %Z' conf)" "one
$before"
        new
        is "$who: chmod" "$(box --write conf -- chmod 600 conf; stat -c %a conf)" 600
        is "$who: touch -d" "$(box --write conf -- touch -d @1000 conf; stat -c %Y conf)" 1000
        is "$who: a file that may not be written is replaced" "$(new 440; box --write conf -- sed -i s/one/two/ conf; cat conf; stat -c %a conf)" "two
440"
        new
        is "$who: what was written stays when the command fails" "$(box --write conf -- sh -c 'echo x >conf; exit 3'; echo $?; cat conf)" "3
x"
        is "$who: and when a limit ends it" "$(box --write conf --time 1s -- sh -c 'echo y >conf; sleep 60' >/dev/null; echo $?; cat conf)" "124
y"
        echo b | $who tee other >/dev/null
        is "$who: several in one directory share it" \
                "$(box --write conf --write other -- sh -c 'mv conf c; mv other conf; mv c other; ls'; cat conf other)" "conf
other
b
y"
        rm -f conf other
        is "$who: a file that did not exist" "$(box --write conf -- sh -c 'echo n >c && mv c conf'; cat conf; ls)" "n
conf"
        rm -f conf
        is "$who: and is left as it was made" "$(box --write conf -- true; ls)" ""

        # --- doors that show the directory keep the bind ---
        new && before=$(ino conf)
        is "$who: --read DIR shows the host's own" "$(box --read . --write conf -- sh -c 'ls -i conf | cut -d" " -f1')" "$before"
        echo in | $who tee input >/dev/null
        is "$who: a read door beside it" "$(box --read input --write conf -- sh -c 'cp input c && mv c conf; ls'; cat conf)" "conf
input
in"
        has "$who: a script that misses a file gets the line for it" \
                "$($who env CORDON_LEDGER=off "$CORDON" run --write conf -- sh -c 'cat <input >conf' 2>&1)" "read $W/input"
        is "$who: which stays closed" "$(box --read input --write conf -- sh -c 'echo x >input' >/dev/null; cat input)" in
        is "$who: a large file keeps the bind" \
                "$($who truncate -s 17M conf; box --plan --write conf -- true | grep -c '^copy ')" 0
        new && ln -s conf link
        is "$who: so does a link" "$(box --plan --write link -- true | grep -c '^copy ')" 0

        # --- what the box plants is not published ---
        new
        for plant in 'mkfifo conf' 'ln -s /etc/passwd conf' 'mkdir conf'; do
                has "$who: $plant" "$(box --write conf -- sh -c "rm conf; $plant"; echo "rc=$?")" "not a file"
                is "$who: the host's stays ($plant)" "$(stat -c %F conf; cat conf)" "regular file
one"
        done

        # --- the host's file changes while the box runs ---
        new
        meanwhile 'echo box >conf' 'echo host | $who tee conf >/dev/null'
        is "$who: the host's change stays" "$(cat conf)" host
        has "$who: the conflict is reported" "$(cat said)" "changed on the host while the box ran"
        has "$who: as a failure" "$(cat said)" rc=125
        is "$who: the box's version is kept" "$(cat "$S"/kept/*/conf)" box
        new
        meanwhile 'rm conf' 'echo host | $who tee conf >/dev/null'
        is "$who: the host's change outlives a removal" "$(cat conf)" host
        new
        meanwhile 'echo box >conf' 'mv "$W" "$W.moved"; mkdir "$W"; echo decoy >"$W/conf"; chmod 777 "$W"'
        is "$who: the directory that was opened is written" "$(cat "$W.moved/conf")" box
        is "$who: not one that took its name" "$(cat "$W/conf")" decoy
        cd "$W" || exit 1

        # --- a keeper that is killed ---
        new && rm -f said && mkfifo go && chmod 666 go && : >said && chmod 666 said
        $who env CORDON_LEDGER=off sh -c 'echo $$ >said; exec "$@"' sh "$CORDON" run -q --wall namespace --write conf -- \
                sh -c 'echo half >c; mv c conf; echo ready; read x' <go >>said 2>&1 &
        exec 7>go
        ok "$who: the box has saved" soon grep -q ready said
        kill -9 "$(head -1 said)"
        exec 7>&-
        wait
        case "$(cat conf)" in one | half) is "$who: killed: the file is whole" whole whole ;; *) is "$who: killed: the file is whole" "$(cat conf)" one ;; esac
        is "$who: killed: nothing is left beside it" "$(find . -name '.cordon*')" ""

        # --- the ledger ---
        new && rm -f go
        $who env CORDON_LEDGER= "$CORDON" run -q --wall namespace --write conf -- sed -i s/one/two/ conf
        has "$who: the ledger has the write" "$($who env CORDON_LEDGER= "$CORDON" ledger)" "write $W/conf 4 bytes: replaced"
        # --- a mount point cannot be replaced ---
        if [ $who = root ] && unshare -m true 2>/dev/null; then
                new && echo mounted >other
                is "$who: a mount point is written in place" "$(unshare -m sh -c 'mount --bind other conf && CORDON_LEDGER=off "$0" run -q --wall namespace --write conf -- sh -c "echo box >conf" && cat conf' "$CORDON" 2>&1; cat conf other; find . -name '.cordon*')" "box
one
box"
        fi

        # --- set-id programs ---
        new 4755
        is "$who: a set-id file keeps the bind" "$(box --plan --write conf -- true | grep -c '^copy ')" 0
        is "$who: and what a box wrote has no such bit" "$(box --write conf -- sh -c 'echo box >conf'; cat conf; stat -c %a conf)" "box
755"

        # --- at each point of the publishing: strace stops the keeper, kills it, or lets a call fail ---
        if ! $who strace -o /dev/null true 2>/dev/null; then
                skip "$who: publishing that is interrupted" "strace cannot trace here"
                continue
        fi
        big='head -c 200000 /dev/zero >conf'
        # faulty INJECTIONS SCRIPT: the run, and what became of it in `said`
        faulty() {
                rm -f said trace && : >said && : >trace && chmod 666 said trace
                (for i in $1; do set -- "$@" -e inject="$i"; done
                        script=$2 && shift 2
                        calls=openat,linkat,pwrite64,fdatasync,fallocate,newfstatat,renameat2
                        $who env CORDON_LEDGER=off timeout -k 1 60 strace -qq -o trace -e trace=$calls "$@" \
                                sh -c 'echo $$ >said; exec "$@"' sh "$CORDON" run -q --wall namespace --write conf -- sh -c "$script" </dev/null >>said 2>&1
                        echo "rc=$?" >>said)
        }
        for point in fdatasync linkat; do
                new && rm -rf "$S/kept"
                faulty $point:signal=SIGSTOP:when=1 'echo box >c; mv c conf' &
                ok "$who: $point: the keeper is stopped" soon grep -q 'stopped by SIGSTOP' trace
                echo host | $who tee n >/dev/null && $who mv n conf
                kill -CONT "$(head -1 said)"
                wait $!
                is "$who: $point: what the host saved meanwhile stays" "$(cat conf; find . -name '.cordon*')" host
                has "$who: $point: the conflict is reported" "$(cat said)" "changed on the host while the box ran"
                is "$who: $point: the box's version is kept" "$(cat "$S"/kept/*/conf)" box
        done
        for point in pwrite64:signal=SIGKILL:when=3 fdatasync:signal=SIGKILL pwrite64:error=ENOSPC:when=3; do
                new
                faulty "$point" "$big"
                is "$who: $point: the file is as it was" "$(cat conf; find . -name '.cordon*')" one
                hasnt "$who: $point: and the run has failed" "$(cat said)" rc=0
        done
        new && ln conf second
        faulty fallocate:error=ENOSPC "$big"
        is "$who: no room for a file with two names: it is as it was" "$(cat conf second)" "one
one"
        new
        faulty linkat:signal=SIGKILL "$big"
        ok "$who: killed before the rename: the file is whole" test "$(wc -c <conf)" -eq 4
        box --write conf -- true
        is "$who: and what was left is gone after the next start" "$(find . -name '.cordon*')" ""
        new # between the last look and the removal
        faulty '' 'rm conf'
        is "$who: removed under strace too" "$(tail -n 1 said; ls conf 2>/dev/null)" rc=0
        nth=$(sed -n '/RENAME_NOREPLACE/q; /newfstatat/p' trace | wc -l)
        new
        faulty "newfstatat:signal=SIGSTOP:when=$nth" 'rm conf' &
        ok "$who: the keeper is stopped before the removal" soon grep -q 'stopped by SIGSTOP' trace
        echo host | $who tee n >/dev/null && $who mv n conf
        kill -CONT "$(head -1 said)"
        wait $!
        is "$who: what the host saved is not removed" "$(cat conf; find . -name '.cordon*')" host
        for try in 1 2 3 4 5 6 7 8 9 10; do # a filesystem without O_TMPFILE: the file has a name from the start
                new
                faulty '' "$big"
                nth=$(grep openat trace | grep -n O_TMPFILE | cut -d: -f1)
                new
                faulty "openat:error=EOPNOTSUPP:when=${nth:-1} pwrite64:signal=SIGKILL:when=3" "$big"
                grep -q 'O_TMPFILE.*INJECTED' trace && break # how many files the keeper opens before it is not always the same
        done
        ok "$who: without O_TMPFILE: the call failed (try $try)" grep -q 'O_TMPFILE.*INJECTED' trace
        is "$who: without O_TMPFILE: the file is as it was" "$(cat conf)" one
        ok "$who: without O_TMPFILE: something is left" test -e .cordon-publish.conf
        box --write conf -- sh -c 'echo two >conf'
        is "$who: without O_TMPFILE: the next run removes it, and publishes" "$(cat conf; stat -c %a conf; find . -name '.cordon*')" "two
640"

        cd "$T" || exit 1
done
done_testing
