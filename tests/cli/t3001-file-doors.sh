#!/bin/sh
# read and write doors: what is seen, what can be changed, whose it is, and that the host is left as it was.
# shellcheck disable=SC2016,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
# What a run leaves on the host is counted here to the last file: without its record, which t7001 looks at.
export CORDON_LEDGER=off
cd "$T" || exit 1
root() { "$@"; }
box() { $who "$CORDON" run -q "$@" </dev/null 2>&1; }
of() { h=$1 && shift && $who env HOME="$h" "$CORDON" run -q "$@" </dev/null 2>&1; }

for who in root as_user; do
        D="$T/$who"
        mkdir -p "$D/in/sub/deep" "$D/in/secret/more" "$D/out/sub" "$D/ro"
        echo one >"$D/in/a"
        echo two >"$D/in/sub/b"
        echo three >"$D/in/sub/deep/c"
        echo hidden >"$D/in/secret/key"
        echo hidden >"$D/in/token"
        echo old >"$D/out/old"
        echo outside >"$D/outside"
        ln -s ../outside "$D/in/way-out"
        ln -s a "$D/in/link"
        ln -s "$D/in" "$D/door-link"
        ln -s in "$D/relative-link"
        chmod -R a+rX "$D"
        [ "$(id -u)" -ne 0 ] || [ $who = root ] || chown -R 65533:65533 "$D"
        find "$T" -path "$T/.out" -o -printf '%p %y %m %u %s %T@\n' | sort >before

        # --- read ---
        is "$who: a file behind a read door can be read" "$(box --read "$D/in" -- cat "$D/in/a")" one
        is "$who: and below it" "$(box --read "$D/in" -- cat "$D/in/sub/deep/c")" three
        is "$who: a single file as a door" "$(box --read "$D/in/a" -- cat "$D/in/a")" one
        has "$who: its neighbour does not exist" "$(box --read "$D/in/a" -- cat "$D/in/token")" "No such file"
        is "$who: a relative door is the caller's" "$(cd "$D" && box --read in -- cat "$D/in/a")" one
        is "$who: a door that is the working directory is entered" "$(cd "$D/in/sub" && box --read . -- cat b)" two
        is "$who: a link inside a door is followed inside it" "$(box --read "$D/in" -- cat "$D/in/link")" one
        has "$who: a link out of a door leads nowhere" "$(box --read "$D/in" -- cat "$D/in/way-out")" "No such file"
        has "$who: .. out of a door leads nowhere" "$(box --read "$D/in" -- sh -c "cat $D/in/../outside")" "No such file"
        for try in "echo x >$D/in/a" "echo x >$D/in/new" "rm $D/in/a" "mv $D/in/a $D/in/z" "mkdir $D/in/d" "chmod 777 $D/in/a" \
                "ln $D/in/a $D/in/hard" "touch $D/in/a" "truncate -s 0 $D/in/a" "rmdir $D/in/secret" "mv $D/in/sub $D/in/s2"; do
                out=$(box --read "$D/in" -- sh -c "$try" || echo REFUSED)
                has "$who: read-only really: ${try%% *}" "$out" REFUSED
                out=$(box --root --read "$D/in" -- sh -c "$try" || echo REFUSED)
                has "$who: read-only for root inside: ${try%% *}" "$out" REFUSED
        done
        is "$who: the file is what it was" "$(cat "$D/in/a")" one

        # --- except: a word of policy lines; a flag takes one path, spaces and all ---
        lines() { printf 'use base/system\nread %s\n' "$1" >p.policy; }
        lines "$D/in except secret token"
        out=$(box -p p.policy -- sh -c "cat $D/in/a; cat $D/in/secret/key; ls $D/in/secret; cat $D/in/token")
        has "$who: beside an except all is seen" "$out" one
        hasnt "$who: an excepted directory and file hide what they hold" "$out" hidden
        lines "$D/in except secret"
        hasnt "$who: nor are names seen" "$(box -p p.policy -- find "$D/in/secret")" more
        is "$who: what hides it has no name in the box" "$(box -p p.policy -- ls -A /)" "$(box --read "$D/in" -- ls -A /)"
        lines "$D/in except token"
        is "$who: an except holds for root inside" "$(box --root -p p.policy -- sh -c "cat $D/in/token | grep -c hidden")" 0
        lines "$D/in except nothing"
        is "$who: an except that is not there is no error" "$(box -p p.policy -- cat "$D/in/a")" one
        # Of doors below /tmp; t3003 has the others.
        is "$who: why tells what comes of it later" "$(cd "$D" && $who "$CORDON" why -p "$OLDPWD/p.policy" read "$D/in/nothing" | grep -c 'made outside while a box runs, it would not be seen')" 1
        : >out # made when the box has begun, however long that takes
        box --time 60s -p p.policy -- sh -c "echo began; until [ -e $D/in/sub/go ]; do sleep 0.1; done; cat $D/in/nothing" >out 2>/dev/null &
        soon grep -q began out
        echo later >"$D/in/nothing"
        $who touch "$D/in/sub/go"
        wait $!
        is "$who: made outside while the box runs it is not seen" "$(grep -c -x -e began -e later out)" 1
        is "$who: and not by the next box" "$(box -p p.policy -- cat "$D/in/nothing")" ""
        rm "$D/in/nothing" "$D/in/sub/go" out
        lines "$D/in except secret sub/deep"
        out=$(box -p p.policy -- sh -c "cat $D/in/secret/key $D/in/sub/deep/c $D/in/a $D/in/sub/b")
        hasnt "$who: a deep except" "$out" three
        has "$who: and beside it" "$out" "one
two"

        # --- nested ---
        is "$who: a write door inside a read door" "$(box --read "$D/in" --write "$D/in/sub" -- sh -c "echo new >$D/in/sub/n; echo x 2>/dev/null >$D/in/n; cat $D/in/sub/n")" "new"
        ok "$who: it was written on the host" test "$(cat "$D/in/sub/n")" = new
        ok "$who: outside of it was not" test ! -e "$D/in/n"
        rm -f "$D/in/sub/n"
        out=$(box --write "$D/out" --read "$D/out/sub" -- sh -c "echo x >$D/out/sub/no; echo x >$D/out/yes; ls $D/out")
        # Doors only add: a line that reads takes nothing away from one that writes.
        ok "$who: a read door inside a write door takes nothing away" test -e "$D/out/sub/no"
        ok "$who: and around it can be written" test -e "$D/out/yes"
        rm -f "$D/out/yes" "$D/out/sub/no"

        # --- write ---
        box --write "$D/out" -- sh -c "umask 022; echo made >$D/out/made; mkdir $D/out/dir; echo more >>$D/out/old; ln -s made $D/out/ln; mv $D/out/made $D/out/moved" >/dev/null
        is "$who: what is written is there" "$(cat "$D/out/moved")" made
        is "$who: what was there is changed" "$(tail -n 1 "$D/out/old")" more
        owner=$(stat -c %u:%g "$D")
        is "$who: a new file is the caller's" "$(stat -c %u:%g "$D/out/moved")" "$owner"
        is "$who: a new directory is the caller's" "$(stat -c %u:%g "$D/out/dir")" "$owner"
        is "$who: a file that was there is still the caller's" "$(stat -c %u:%g "$D/out/old")" "$owner"
        is "$who: inside it is the box user's" "$(box --write "$D/out" -- stat -c %u "$D/out/old")" 1000
        out=$(box --use base/strict --write "$D/out" -- sh -c "cp /bin/echo $D/out/prog; chmod 755 $D/out/prog; $D/out/prog RAN; chmod 4755 $D/out/prog || echo NOSUID")
        hasnt "$who: what is written there does not run" "$out" RAN
        has "$who: nor is it made set-uid" "$out" NOSUID
        is "$who: its mode is plain" "$(stat -c %a "$D/out/prog")" 755
        box --write "$D/out" -- mknod "$D/out/dev" c 1 3 >/dev/null
        ok "$who: no device is made there" test ! -e "$D/out/dev"
        rm -rf "$D/out/moved" "$D/out/dir" "$D/out/ln" "$D/out/prog"
        echo old >"$D/out/old"

        # --- what the host's tree holds for others: device nodes and set-id programs. A door shows them and lends nothing. ---
        if [ "$(id -u)" -eq 0 ] && mknod "$D/out/zero" c 1 5 2>/dev/null && chmod 666 "$D/out/zero" && [ "$(head -c 1 "$D/out/zero" | wc -c)" -eq 1 ]; then
                for door in --read --write; do
                        out=$(box $door "$D/out" -- sh -c "echo BEGAN; test -c $D/out/zero && head -c 1 $D/out/zero >/dev/null && echo OPENED; : >$D/out/zero && echo OPENED")
                        never "$who: host device behind $door is not opened" "$out" OPENED
                        has "$who: the mount says so, behind $door" "$out" "ermission denied"
                done
        else
                skip "$who: host device is not opened" "no node can be made and opened there"
        fi
        rm -f "$D/out/zero"
        # Every mount: no set-id program, no device but the box's own, nothing that can be both written and run.
        flags='$6 !~ /(^|,)nosuid(,|$)/ { print "no nosuid:", $5, $6 } $5 !~ "^/dev/" && $6 !~ /(^|,)nodev(,|$)/ { print "no nodev:", $5, $6 }
                ($6 ~ /^rw/ || $5 == "/") && $6 !~ /(^|,)noexec(,|$)/ { print "no noexec:", $5, $6 }'
        # With and without a watched root, which is put together of other mounts.
        printf 'use base/strict\nread %s except secret token\nwrite %s\n' "$D/in" "$D/out" >p.policy
        for observe in off denials; do
                out=$($who "$CORDON" run --observe $observe -p p.policy -- cat /proc/self/mountinfo </dev/null 2>/dev/null)
                ok "$who, $observe: the mounts are listed ($(echo "$out" | wc -l))" test "$(echo "$out" | awk '{ print $5 }' | sort -u | grep -c -x -e "$D/in" -e "$D/in/secret" -e "$D/in/token" -e "$D/out")" -eq 4
                is "$who, $observe: every mount is nosuid, nodev, and noexec where it can be written" "$(echo "$out" | awk "$flags")" ""
                is "$who, $observe: and only the write door and the private files can be" "$(echo "$out" | awk '$6 ~ /^rw/ { print $5 }' | sort -u)" "$(printf '%s\n' "$D/out" /dev/shm /home/box /tmp | sort)"
        done
        # A filesystem that is mounted below a door is as closed as the door. Root's doors do not show it.
        mine="unshare -Urm"
        [ $who = as_user ] || mine="unshare -m"
        if $who $mine sh -c 'mount -t tmpfs none "$1"' sh "$D/in/sub" 2>/dev/null; then
                out=$($who $mine sh -c 'mount -t tmpfs none "$1" && echo below >"$1/f" && shift && exec "$@"' sh "$D/in/sub" "$CORDON" run -q --use base/strict --read "$D/in" --write "$D/out" -- \
                        sh -c "cat $D/in/sub/f; cat /proc/self/mountinfo" 2>&1 </dev/null)
                [ "$who" = root ] || is "$who: a filesystem below a door is seen" "$(echo "$out" | head -n 1):$(echo "$out" | grep -c " $D/in/sub ")" below:1
                is "$who: and has the flags of the door" "$(echo "$out" | sed 1d | awk "$flags"' $5 == dir && $6 !~ /^ro,/ { print "not closed:", $5, $6 }' dir="$D/in/sub")" ""
        else
                skip "$who: a filesystem below a door" "none can be mounted here"
        fi

        # --- missing, optional, other kinds ---
        out=$(box --read "$D/none" -- true)
        is "$who: a door that is not there gives 125" $? 125
        has "$who: and names the path" "$out" "$D/none"
        has "$who: and the hint" "$out" "read $D/none?"
        printf 'use base/system\n\n  read %s\n' "$D/none" >p.policy
        has "$who: in a file, with its line and column" "$(box -p p.policy -- true)" "p.policy:3:8"
        is "$who: PATH? may be missing" "$(box --read "$D/none?" -- echo fine)" fine
        is "$who: PATH? that is there is a door" "$(box --read "$D/in?" -- cat "$D/in/a")" one
        is "$who: a link as a door shows what it leads to" "$(box --read "$D/door-link" -- cat "$D/door-link/a")" one
        is "$who: a relative link as a door too" "$(box --read "$D/relative-link" -- cat "$D/relative-link/a")" one
        # Made by an earlier box, a link leads the next one's door; but not to what nobody named.
        mkdir -p "$D/me/.ssh" "$D/me/run/ssh-agent" && echo KEY >"$D/me/.ssh/id"
        ln -s me/.ssh "$D/notes" && ln -s me "$D/all" && ln -s .. "$D/me/up" && ln -s run/ssh-agent/x "$D/me/sock"
        chmod -R a+rX "$D/me" && { [ $who = root ] || [ "$(id -u)" -ne 0 ] || chown -hR 65533:65533 "$D/me"; }
        for door in --read --edit --write; do
                out=$(of "$D/me" $door "$D/notes" -- cat "$D/notes/id")
                is "$who: a link is no $door door to keys" "$?:$(echo "$out" | sed -n 's/.*leads by a link to //p')" "125:$D/me/.ssh, which holds secrets"
                has "$who: nor to the home ($door)" "$(of "$D/me" $door "$D/all" -- ls "$D/all")" "$D/me, which is your home"
                has "$who: but who means it hears what to type ($door)" "$(of "$D/me" $door "$D/all" -- ls "$D/all")" "name it as HOME does: $D/me; else look who made the link"
        done
        # A name that speaks of some secrets does not speak of others; nor does one that speaks of none of what holds them.
        mkdir -p "$D/me/.config" && ln -s me/.ssh/id "$D/.env" && ln -s me/.config "$D/settings"
        has "$who: nor is one that is called .env" "$(of "$D/me" --read "$D/.env" -- cat "$D/.env")" "$D/me/.ssh/id, which holds secrets"
        has "$who: nor is one a door to what tokens lie in" "$(of "$D/me" --read "$D/settings" -- ls "$D/settings")" "$D/me/.config, which holds secrets"
        mv "$D/me/.ssh/id" "$D/me/.env" && ln -sf me/.env "$D/.env"
        is "$who: but to what is called so, too" "$(of "$D/me" --read "$D/.env" -- cat "$D/.env")" KEY
        mv "$D/me/.env" "$D/me/.ssh/id" && rm "$D/.env" "$D/settings"
        # What may be run can be read.
        cp /bin/true "$D/me/.ssh/id_rsa" && ln -s me/.ssh/id_rsa "$D/tool"
        for line in tool:.ssh/id_rsa,\ which\ holds\ secrets notes/:.ssh,\ which\ holds\ secrets all/:,\ which\ is\ your\ home; do
                for wall in namespace process; do
                        has "$who: nor is one a run line of such (${line%%:*}, $wall)" "$(of "$D/me" --wall $wall --run "$D/${line%%:*}" -- cat "$D/me/.ssh/id")" "leads by a link to $D/me$(echo "/${line#*:}" | sed 's:^/,:,:')"
                done
        done
        is "$who: but of those by their own name" "$(of "$D/me" --run "$D/me/.ssh/" --run cat -- cat "$D/me/.ssh/id")" KEY
        rm "$D/tool"
        has "$who: nor to what is above it" "$(of "$D/me" --read "$D/me/up" -- ls "$D/me/up")" "which your home lies below"
        is "$who: who means that names it" "$(of "$D/me" --read "$D/me/.ssh" -- cat "$D/me/.ssh/id")" KEY
        is "$who: and a home that is itself behind a link is one" "$(of "$D/all" --read "$D/all" -- cat "$D/all/.ssh/id")" KEY
        $who python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$D/me/run/ssh-agent/x"
        has "$who: a link is no sock door to an agent" "$(box --sock "$D/me/sock" -- true)" "which acts for its clients"
        rm -r "$D/me" "$D/notes" "$D/all"
        is "$who: link and target as doors" "$(box --read "$D/in" --read "$D/door-link" -- cat "$D/door-link/a")" one
        mkfifo "$D/fifo"
        out=$(box --read "$D/fifo" -- true)
        is "$who: a fifo is no door" $? 125
        has "$who: and nobody is sent on to another that it is not" "$out" "no door opens a device or a pipe of the host"
        has "$who: nor from there back" "$(box --sock "$D/fifo" -- true)" "no door opens a device or a pipe of the host"
        rm -f "$D/fifo"
        is "$who: /proc/self/fd is no door" "$(box --read /proc/self/fd -- true >/dev/null; echo $?)" 125
        # Where the box's own stands, the host's cannot: said so, and no line is named that does not help.
        for own in /proc /proc/cmdline /dev /home; do
                [ -e $own ] || continue
                has "$who: $own is no door" "$(box --read $own -- true)" "$([ $own = /home ] && echo 'own home' || echo 'boxes have a private')"
                is "$who: why names none either" "$($who "$CORDON" why read $own | grep permit)" "permit no line can"
        done
        ! box --wall process -- true >/dev/null || is "$who: the process wall shows the host's" "$(box --wall process --read /proc/version -- cat /proc/version | tail -n 1)" "$(cat /proc/version)"
        has "$who: a device that every box has needs none" "$(box --write /dev/null -- true)" "every box has a private /dev/null"
        if [ -w /dev/shm ]; then
                mkdir "/dev/shm/$$" && echo shared >"/dev/shm/$$/f" && chmod -R a+rX "/dev/shm/$$"
                is "$who: the host's shared memory is one" "$(box --read /dev/shm -- cat "/dev/shm/$$/f")" shared
                is "$who: and a part of it" "$(box --read "/dev/shm/$$" -- cat "/dev/shm/$$/f")" shared
                rm -r "/dev/shm/$$"
        else
                skip "$who: the host's shared memory is one" "this host has no /dev/shm"
        fi
        has "$who: a directory of programs has a slash behind it" "$(box --run "$D/in" -- true)" "use \`--run $D/in/\`"
        if [ -r /sys/devices/system/cpu/online ]; then
                is "$who: a part of /sys is one" "$(box --read /sys/devices/system/cpu -- cat /sys/devices/system/cpu/online)" "$(cat /sys/devices/system/cpu/online)"
                is "$who: and shows nothing else of it" "$(box --read /sys/devices/system/cpu -- ls /sys /sys/devices | tr '\n' ' ')" "/sys: devices  /sys/devices: system "
                has "$who: nothing in it can be written" "$(box --read /sys/devices/system/cpu -- sh -c 'echo 1 >/sys/devices/system/cpu/online' 2>&1)" "Read-only file system"
        else
                skip "$who: a part of /sys is one" "this host shows no /sys/devices/system/cpu"
        fi
        is "$who: an empty path is no door" "$(box --read '' -- true >/dev/null; echo $?)" 125

        # --- names ---
        mkdir "$D/n"
        for n in 'with space' "quote'and\"quote" 'ünïcödé-日本' '#hash' '-dash' 'star*' 'back\slash' 'trailing?' "$(printf 'new\nline')"; do
                echo "$n" >"$D/n/$n"
        done
        chmod -R a+rX "$D/n"
        is "$who: odd names behind a door are all there" "$(box --read "$D/n" -- sh -c "cd $D/n; for f in *; do cat \"./\$f\"; done" | sort | cksum)" "$(cd "$D/n" && for f in *; do cat "./$f"; done | sort | cksum)"
        is "$who: a door with a space" "$(box --read "$D/n/with space" -- cat "$D/n/with space")" 'with space'
        is "$who: a door with UTF-8" "$(box --read "$D/n/ünïcödé-日本" -- cat "$D/n/ünïcödé-日本")" 'ünïcödé-日本'
        is "$who: a door with a star is taken as it is" "$(box --read "$D/n/star*" -- cat "$D/n/star*")" 'star*'
        is "$who: a door with a hash" "$(box --read "$D/n/#hash" -- cat "$D/n/#hash")" '#hash'
        printf 'use base/system\nread "%s/n/with space"\n' "$D" >p.policy
        is "$who: a quoted door in a file" "$(box -p p.policy -- cat "$D/n/with space")" 'with space'
        rm -rf "$D/n"

        # --- many ---
        mkdir "$D/many"
        i=0
        printf 'use base/system\n' >p.policy
        while [ $i -lt 300 ]; do
                mkdir "$D/many/$i" && echo $i >"$D/many/$i/f" && echo "read $D/many/$i" >>p.policy
                i=$((i + 1))
        done
        chmod -R a+rX "$D/many"
        is "$who: 300 doors" "$(box -p p.policy -- sh -c "cat $D/many/*/f | wc -l")" 300
        rm -rf "$D/many"

        # --- sockets ---
        $who python3 -c '
import socket, sys, threading
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(8); s.settimeout(60)
open(sys.argv[1] + ".up", "w").close()
while True:
    try: c, _ = s.accept()
    except OSError: break
    c.sendall(b"hello from outside\n"); c.close()
' "$D/sock" 2>/dev/null &
        server=$!
        soon test -e "$D/sock.up"
        hello='import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print(s.recv(99).decode(),end="")'
        is "$who: a sock door is connected to" "$(box --sock "$D/sock" -- /usr/bin/python3 -c "$hello" "$D/sock")" "hello from outside"
        out=$(box --read "$D/sock" -- true)
        is "$who: a socket is no read door" $? 125
        has "$who: and the hint is sock" "$out" "sock $D/sock"
        has "$who: without a door there is no socket" "$(box -- /usr/bin/python3 -c "$hello" "$D/sock")" "FileNotFoundError"
        has "$who: a read door over its directory is no way to it" "$(box --read "$D" -- /usr/bin/python3 -c "$hello" "$D/sock")" "Error"
        mkdir "$D/socks" && mv "$D/sock" "$D/socks/sock" && chmod 755 "$D/socks"
        has "$who: a run line over its directory neither" "$(box --run "$D/socks/" --run /usr/bin/python3 -- /usr/bin/python3 -c "$hello" "$D/socks/sock")" "Error"
        is "$who: but a sock door beside it" "$(box --run "$D/socks/" --run any --sock "$D/socks/sock" -- /usr/bin/python3 -c "$hello" "$D/socks/sock")" "hello from outside"
        mv "$D/socks/sock" "$D/sock" && rmdir "$D/socks"
        has "$who: a file is no sock door" "$(box --sock "$D/in/a" -- true)" 'cordon: error:'
        kill $server 2>/dev/null
        wait $server 2>/dev/null
        rm -f "$D/sock" "$D/sock.up"

        # --- the host is as it was ---
        find "$T" -path "$T/.out" -o -printf '%p %y %m %u %s %T@\n' | grep -v -e '/p.policy ' -e '/names f 600 ' -e "^$T d" -e "^$D d" -e '/after ' -e '/before ' | awk '{ $6 = "" } 1' | sort >after
        grep -v -e '/p.policy ' -e '/names f 600 ' -e "^$T d" -e "^$D d" -e '/before ' -e '/after ' before | awk '{ $6 = "" } 1' | sort >before2
        is "$who: nothing was made or changed on the host" "$(diff before2 after | grep -v -e before2 -e after)" ''
        rm -f before2
done
# A door of root's does not show what is mounted below it: a door in there has no place in the box, and none is made on the host.
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
        mkdir -p "$T/place/below"
        for door in in made/deep; do
                out=$(unshare -m sh -c 'mount -t tmpfs none "$1/below" && mkdir -p "$1/below/$2" && chmod -R 777 "$1" && "$3" run -q --write "$1" --write "$1/below/$2" -- echo RAN 2>&1 </dev/null' sh "$T/place" $door "$CORDON")
                has "a door that has no place inside another stops the start: $door" "$out" " $T/place/below/$door has no place in the box"
                is "and none is made for it: $door" "$(find "$T/place")" "$T/place
$T/place/below"
        done
else
        skip "a door that has no place inside another stops the start" "only root's doors are without what is mounted below them"
fi
# A door of root's shows other users' files as they are, and lends no power over them.
if [ "$(id -u)" -eq 0 ]; then
        mkdir other && echo theirs >other/file && chown 65533:65533 other/file && chmod 600 other/file && echo mine >other/mine && chmod 600 other/mine
        who=root
        is "root's own private file is seen through root's door" "$(box --read "$T/other" -- cat "$T/other/mine")" mine
        has "another user's private file is not" "$(box --read "$T/other" -- cat "$T/other/file")" ermission
        box --write "$T/other" -- sh -c "echo x >>$T/other/file" >/dev/null
        is "nor can it be written" "$(cat other/file)" theirs
fi
: "$here"
# cordon's own state: no door shows it, whatever it is called.
mkdir -p "$T/home/real" && ln -s real "$T/home/link"
for state in .state new real/state link/state; do
        CORDON_STATE=$T/home/$state "$CORDON" run --read "$T/home" -- true # makes it
        echo secret >"$T/home/$state/ledger"
        is "a door over the state directory ($state) does not show it" \
                "$(CORDON_STATE=$T/home/$state "$CORDON" run --read "$T/home" -- grep -rs secret "$T/home")" ""
        is "nor can a write door change it ($state)" \
                "$(CORDON_STATE=$T/home/$state "$CORDON" run --write "$T/home" -- sh -c "echo x >$T/home/$state/ledger" 2>/dev/null
                cat "$T/home/$state/ledger")" secret
        remove "${T:?}/home/$state"
done
# Not by way of its parents: what is moved away would lie there in the next run, under a name that nobody hides.
mkdir -p "$T/deep/a/b" && chmod -R a+rwX "$T/deep"
deep() { CORDON_STATE=$T/deep/a/b/state "$CORDON" run -q --write "$T/deep" -- sh -c "cd $T/deep && $1" 2>&1; }
deep true && echo secret >"$T/deep/a/b/state/ledger"
for parent in a a/b a/b/state; do
        has "$parent, which leads to the state directory, cannot be moved" "$(deep "mv $parent away")" "busy"
        has "nor removed ($parent)" "$(deep "rmdir $parent")" "busy"
done
# A door below such a parent is what it was: neither the host's own files lie on top of it, nor is it closed.
mkdir -p "$T/deep/a/app" "$T/deep/a/bin" && echo mine >"$T/deep/a/app/f" && cp /bin/echo "$T/deep/a/bin/tool" && chmod -R a+rwX "$T/deep/a/app" "$T/deep/a/bin"
printf 'use base/system\nrun sh\nrun cat\nrun %s\nwrite %s\nedit %s\n' "$T/deep/a/bin/tool" "$T/deep" "$T/deep/a/app" >p.policy
is "an edit door and a program below it are as without" "$(CORDON_STATE=$T/deep/a/b/state "$CORDON" run -q -p p.policy -- sh -c "echo theirs >$T/deep/a/app/f; cat $T/deep/a/app/f; $T/deep/a/bin/tool runs" 2>&1 | paste -s)" "theirs	runs"
is "and the host's file is as it was" "$(cat "$T/deep/a/app/f")" mine
is "beside it all can be written" "$(deep 'echo x >a/b/new && mkdir a/c && mv a/c a/d && rmdir a/d && rm a/b/new && echo fine')" fine
is "and it is where it was" "$(cat "$T/deep/a/b/state/ledger")" secret
has "a door into the state directory is refused" \
        "$(CORDON_STATE=$T/home "$CORDON" run --read "$T/home/real" -- true 2>&1)" "would open cordon's own state"
has "the process wall, which cannot hide it, refuses" \
        "$(CORDON_STATE=$T/home/.state "$CORDON" run --wall process --read "$T/home" -- true 2>&1)" "would open cordon's own state"
# --- a door is what its links lead to: an earlier box may have planted them where it could write (CVE-2026-25724) ---
for who in root as_user; do
        L=$T/planted.$who S=$(state_of $who)
        mkdir -p "$L/tools" "$L/ws" && ln -s "$S" "$L/ws/state" && ln -s "$S/ledger" "$L/ws/ledger" && ln -s "$T" "$L/ws/above" && ln -s ../tools "$L/ws/tools"
        ln -s /sys/kernel "$L/ws/sys" && ln -s /proc/self "$L/ws/proc" && ln -s sys "$L/ws/sys2" && chmod -R a+rwX "$L"
        # The ledger is what a state directory has for certain.
        $who env -u CORDON_LEDGER "$CORDON" run -q -- true
        soon test -s "$S/ledger/key"
        ok "$who: there is a key of the ledger" test -s "$S/ledger/key"
        for wall in namespace process; do
                for door in "--read $L/ws/state" "--read $L/ws/ledger" "--write $L/ws/ledger" "--read $L/ws/above/$(basename "$S")" "--run $S/" "--run $L/ws/ledger/" "--run $S/ledger/key"; do
                        # shellcheck disable=SC2086
                        has "$who, $wall: no link and no run line opens cordon's own state: ${door#--}" "$(box --wall $wall $door -- cat "$S/ledger/key" "$L/ws/ledger/key" "$L/ws/state/ledger/key")" "would open cordon's own state"
                done
                for door in "--write $L/ws/sys" "--write $L/ws/sys2" "--write $L/ws/proc"; do
                        # shellcheck disable=SC2086
                        has "$who, $wall: no link lets a box write to the kernel's files: ${door#--}" "$(box --wall $wall $door -- true)" "which is the kernel's: no box writes there"
                done
                # What the box can write does not run, whatever the two names are.
                for doors in "--read $L/tools --write $L/ws/tools" "--read $L/ws/tools --write $L/tools" "--read $L --write $L/ws/tools" "--read $L/tools --write $L/ws/../ws/tools"; do
                        rm -f "$L/tools/x"
                        # shellcheck disable=SC2086
                        out=$(box --wall $wall $doors -- sh -c "echo BEGAN; cp /bin/echo $L/ws/tools/x || cp /bin/echo $L/tools/x; $L/tools/x RAN; $L/ws/tools/x RAN")
                        hasnt "$who, $wall: what is written by one name does not run by another: $doors" "$out" RAN
                done
                has "$who, $wall: and it is said" "$(box --wall $wall --read "$L/tools" --write "$L/ws/tools" -- true)" "name where the link leads"
                cp /bin/echo "$L/tools/y"
                has "$who, $wall: nor is the command written by another name" "$(box --wall $wall --write "$L/ws/tools" -- "$L/tools/y" RAN)" "could write by one name what it runs by another"
                mkdir -p "$L/tools/sub" && ln -sfn ../tools/sub "$L/ws/sub" && ln -sfn tools "$L/bin" && ln -sfn ../ws "$L/tools/way" && chmod a+rwx "$L/tools/sub"
                for doors in "--run $L/tools/ --write $L/ws/tools" "--run $L/tools/y --write $L/ws/tools" "--run $L/tools/ --write $L/ws/sub" "--run $L/bin/ --write $L/ws/sub" "--run $L/tools/ --read $L/tools/way --write $L/ws"; do
                        # shellcheck disable=SC2086
                        has "$who, $wall: nor is a program that a line names: $doors" "$(box --wall $wall $doors -- true)" "could write by one name what it runs by another"
                done
                is "$who, $wall: who names one path for both means it" "$(box --wall $wall --write "$L/tools" --write "$L/ws/tools" --run "$L/tools/" --run sh --run cp -- sh -c "cp /bin/echo $L/ws/tools/x; $L/tools/x RAN")" RAN
                rm "$L/bin" "$L/ws/sub" "$L/tools/way"
                ln -sf tools/y "$L/alias"
                has "$who, $wall: nor a program that a line names by a link" "$(box --wall $wall --write "$L/ws/tools" --run "$L/alias" -- true)" "could write by one name what it runs by another"
        done
        has "$who: behind the process wall, which cannot hold it, nor by its own" "$(box --use base/strict --wall process --write "$L/tools" -- "$L/tools/y" RAN)" "the box could change it and run it again"
        # A pin holds one name of a file; an earlier box may have given it another.
        $who mkdir "$L/names"
        # shellcheck disable=SC2016
        printf '#!/bin/sh\necho "echo RAN" 2>/dev/null >>"${0%%/*}/other"\n[ "$1" ] || exec "$0" again\n' | $who tee "$L/names/tool" >tool
        $who chmod 755 "$L/names/tool"
        is "$who: the command behind a write door is held as it is" "$(box --use base/strict --write "$L/names" -- "$L/names/tool"; cat "$L/names/tool")" "$(cat tool)"
        $who rm "$L/names/other"
        box --write "$L/names" -- ln "$L/names/tool" "$L/names/other"
        is "$who: an earlier box gave it another name" "$(stat -c %h "$L/names/tool")" 2
        ln -sf names/tool "$L/alias"
        for run in "-- $L/names/tool" "--run $L/alias --run true -- true"; do
                # shellcheck disable=SC2086
                has "$who: nor is what runs written by a second name of its file: $run" "$(box --use base/strict --write "$L/names" $run)" "a file with several names"
        done
        $who ln -s . "$L/names/bin"
        has "$who: nor what lies in a directory that a link names" "$(box --write "$L/names" --run "$L/names/bin/" --run sh -- "$L/names/tool")" "leads behind a \`write\` door"
        $who rm "$L/names/bin"
        is "$who: and it is what it was" "$(cat "$L/names/tool")" "$(cat tool)"
        has "$who: unless a line says so" "$(box --write "$L/names" --run "$L/names/tool" --run sh -- "$L/names/tool")" RAN
        has "$who: nor by an edit door" "$(box --edit "$L/ws/sys" -- true)" "which is the kernel's: no box writes there"
        has "$who: nor does one open the state" "$(box --edit "$L/ws/state" -- true)" "would open cordon's own state"
        # What one line excepts, no link of another opens.
        mkdir -p "$L/p/secret" "$L/p/.git" && echo hidden >"$L/p/secret/key" && echo keep >"$L/p/.git/config" && ln -s ../p/secret "$L/ws/data" && ln -s ../p "$L/ws/all" && ln -s ../p/.git "$L/ws/build" && chmod -R a+rwX "$L"
        for doors in "read $L/p except secret
read $L/ws/data" "read $L/p except secret
read $L/ws/all" "edit $L/p except .git/config
write $L/ws/build" "edit $L/p except .git/config
edit $L/ws/build"; do
                printf 'use base/system\n%s\n' "$doors" >p.policy
                has "$who: no link undoes an except: $(echo "$doors" | tail -n 1)" "$(box -p p.policy -- sh -c "cat $L/ws/data/key $L/ws/all/secret/key; echo x >$L/ws/build/config")" "where another line excepts"
        done
        is "$who: what is excepted is as it was" "$(cat "$L/p/.git/config")" keep
        is "$who: a link above the state directory shows what lies beside it, and not that" "$(box --read "$L/ws/above" -- sh -c "ls -d $L/ws/above/planted.$who; cat $L/ws/above/$(basename "$S")/ledger/key")" "$L/ws/above/planted.$who
cat: $L/ws/above/$(basename "$S")/ledger/key: No such file or directory"
        is "$who: a link to what no other door shows is a door as before" "$(box --write "$L/ws/tools" -- sh -c "echo fine >$L/ws/tools/z"; cat "$L/tools/z")" fine
done
# What cannot be hidden is told with its own reason.
if [ "$(id -u)" -eq 0 ]; then
        mkdir -p "$T/shown/closed" && chmod 755 "$T/shown" && chmod 700 "$T/shown/closed" && echo "read $T/shown except closed/key way/key" >hide.policy
        out=$(as_user "$CORDON" run -q -p hide.policy -- true 2>&1 </dev/null)
        has "an except in a closed directory stops the start" "$out" "cannot hide $T/shown/closed/key: Permission denied"
        hasnt "and is not called a link" "$out" "symbolic link"
        chmod 755 "$T/shown/closed" && ln -s closed "$T/shown/way"
        has "an except behind a link is" "$(as_user "$CORDON" run -q -p hide.policy -- true 2>&1 </dev/null)" "lies behind, a symbolic link"
else
        skip "an except in a closed directory stops the start" "all that is ours is open to us"
fi
# The file that opens the vault lies elsewhere, and is as little seen.
mkdir -p "$T/vaulthome/real" && ln -s real "$T/vaulthome/link"
for key in .config/cordon/vault.key link/other; do
        key=$T/vaulthome/$key
        printf ghp_0123456789abcdefghij | CORDON_STATE=$T/vaulthome/state "$CORDON" vault add gh --key-file "$key" || fail "a vault is made"
        sum=$(sha256sum <"$key")
        is "a door over the vault's key file does not show it (${key#"$T"/})" "$(for p in "$key" "$(readlink -f "$key")"; do
                CORDON_STATE=$T/vaulthome/state "$CORDON" run --read "$T/vaulthome" -- wc -c "$p" | cut -d' ' -f1
        done | tr '\n' ' ')" "0 0 "
        CORDON_STATE=$T/vaulthome/state "$CORDON" run --write "$T/vaulthome" -- sh -c "echo x >$key; rm -f $key; mv $key $key.x; echo y >$(readlink -f "$key")" 2>/dev/null
        is "nor can a write door change it (${key#"$T"/})" "$(sha256sum <"$key")" "$sum"
        has "a door to it is refused (${key#"$T"/})" "$(CORDON_STATE=$T/vaulthome/state "$CORDON" run --read "$key" -- cat "$key" 2>&1)" "would open cordon's own state"
        remove "$T/vaulthome/state"
done
# --- a write door over what the next run obeys ---
mkdir -p "$T/ruled/out" && printf 'use base/system\nwrite {work}/out\n' >"$T/ruled/out/box.policy" && echo 'place api live https://api.test/' >"$T/ruled/out/box.places"
ln -s out/box.policy "$T/ruled/linked.policy" && cp "$T/ruled/out/box.policy" "$T/ruled/box.policy" && chmod -R a+rwX "$T/ruled"
ruled() { (cd "$T/ruled" && "$CORDON" "$@" 2>&1) | grep -o 'W140: the box can write [^ ]*'; }
is "a policy that its own box can write is told by check" "$(ruled check -p out/box.policy)" "W140: the box can write out/box.policy,"
is "also behind a link" "$(ruled check -p linked.policy)" "W140: the box can write linked.policy,"
is "and its places" "$(ruled check -p box.policy --places out/box.places)" "W140: the box can write out/box.places,"
is "run says it before it starts, of the policy" "$(ruled run -p out/box.policy -- true)" "W140: the box can write out/box.policy,"
is "and of the places" "$(ruled run -p box.policy --places out/box.places -- true)" "W140: the box can write out/box.places,"
mkdir -p "$T/ruled/config/cordon" && echo 'read {work}/out' >"$T/ruled/config/cordon/mine.cordon" && printf 'use base/system\nuse mine\nwrite {work}/config\n' >"$T/ruled/uses.policy" && chmod -R a+rwX "$T/ruled"
is "one of one's own that it uses is hidden instead" "$(export XDG_CONFIG_HOME="$T/ruled/config"; ruled check -p uses.policy; "$CORDON" run -q --work "$T/ruled" -p "$T/ruled/uses.policy" -- ls -A "$T/ruled/config/cordon")" ""
# The directory of own policies and of the vault's key: a box that could change it would choose doors and key of later runs.
mkdir -p "$T/conf/real" "$T/conf/home" && ln -s real "$T/conf/link" && chmod -R a+rwX "$T/conf"
plant='mkdir -p "$1"; echo "use base/system" >"$1/mine.cordon"; echo key >"$1/vault.key"; rm -rf "$1"; mv "${1%/*}" "${1%/*}.away"; mkdir -p "$1"; echo x >"$1/mine.cordon"'
for who in root as_user; do
        for word in write edit; do
                for where in home/.config link/.config real; do
                        rm -rf "$T/conf/home/.config" "$T/conf/real/.config" "$T/conf/real/cordon"
                        config=$T/conf/$where/cordon
                        planted() { XDG_CONFIG_HOME=$T/conf/$where CORDON_STATE=$T/conf-state.$who $who "$CORDON" run -q "$@" -- sh -c "$plant" sh "$config" >/dev/null 2>&1; }
                        planted --$word "$T/conf"
                        is "$who: a box plants no policy and no key ($word door above $where)" "$(find "$T/conf/" -name '*.cordon' -o -name vault.key)" ""
                        CORDON_STATE=$T/conf-state.$who $who "$CORDON" apply --include-flagged >/dev/null 2>&1
                        is "$who: also not by an apply ($word, $where)" "$(find "$T/conf/" -name '*.cordon' -o -name vault.key)" ""
                done
        done
        mkdir -p "$T/conf/home/.config/cordon" && echo 'read /usr' >"$T/conf/home/.config/cordon/mine.cordon" && chmod -R a+rwX "$T/conf/home/.config"
        for wall in namespace process; do
                has "$who: a write door into it is refused ($wall)" "$(XDG_CONFIG_HOME=$T/conf/home/.config $who "$CORDON" run --wall $wall --write "$T/conf/home/.config/cordon/mine.cordon" -- true 2>&1)" "would let the box change what later runs obey"
        done
        has "$who: the process wall refuses one above it" "$(XDG_CONFIG_HOME=$T/conf/home/.config $who "$CORDON" run --wall process --write "$T/conf" -- true 2>&1)" "would let the box change what later runs obey"
        is "$who: a read door shows it" "$(XDG_CONFIG_HOME=$T/conf/home/.config $who "$CORDON" run -q --read "$T/conf" -- cat "$T/conf/home/.config/cordon/mine.cordon" 2>&1)" "read /usr"
done
mkdir -p "$T/own/bin" "$T/own/libexec/cordon" && cp "$CORDON" "$T/own/bin/cordon" && cp "$CORDON_LIBEXEC/cordon-review" "$T/own/libexec/cordon/" && printf '#!/bin/sh\n' >"$T/own/libexec/cordon/cordon-ledger" && chmod -R 755 "$T/own"
owned() { env -u CORDON_LIBEXEC "$T/own/bin/cordon" "$@" 2>&1 | grep -o 'W140: the box can write [^ ]*'; }
is "and a program of cordon's own" "$(owned check --write "$T/own/bin"; owned run --ledger off --write "$T/own/libexec" -- true)" "W140: the box can write $T/own/bin/cordon,
W140: the box can write $T/own/libexec/cordon/cordon-ledger,"
cp "$T/ruled/box.policy" "$T/ruled/out/trial.policy"
is "and one that is tried now and then" "$(for share in 1 100; do ruled run -p box.policy --canary out/trial.policy --canary-share $share -- true; ruled run -p out/box.policy --canary box.policy --canary-share $share -- true; done)" "W140: the box can write out/trial.policy,
W140: the box can write out/box.policy,
W140: the box can write out/trial.policy,
W140: the box can write out/box.policy,"
is "one that lies beside the door is not told" "$(ruled check -p box.policy; ruled run -p box.policy -- true)" ""
# --- a door below the workspace that is somebody's link out of it ---
mkdir -p "$T/ws/dir" "$T/other" && echo outside >"$T/other/file" && echo inside >"$T/ws/dir/file" && chmod -R a+rX "$T/ws" "$T/other"
ln -s "$T/other" "$T/ws/out" && ln -s dir "$T/ws/in" && ln -s "$T/ws/dir" "$T/ws/absolute" && ln -s ../../other "$T/ws/dir/up"
has "except in an option is told where it belongs" "$("$CORDON" run --read "$T except x" -- true 2>&1)" "a line with \`except\` stands in a file for -p"
links() { (cd "$T/ws" && "$CORDON" check "$@" 2>&1) | grep -c 'W131'; }
has "a door that leaves the workspace is told by check" "$(cd "$T/ws" && "$CORDON" check --read out 2>&1)" "W131: $T/ws/out leads out of the workspace through a symlink, to $T/other"
is "edit and write too" "$(links --edit "$T/ws/out" --write "$T/ws/out/file")" 2
is "a link on the way counts" "$(links --read "$T/ws/in/up/file")" 1
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$T/other/s" && ln -s "$T/other/s" "$T/ws/agent"
is "and of a socket: an earlier box may have made it lead to one that starts programs outside" "$(links --sock "$T/ws/agent")" 1
# What may be run can be read: an earlier box that has a `write` door there chose what the next one is shown.
mkdir -p "$T/ws/build" && chmod a+rwx "$T/ws/build" && echo key >"$T/other/key" && chmod a+r "$T/other/key"
"$CORDON" run -q --write "$T/ws/build" -- ln -s "$T/other/key" "$T/ws/build/tool"
is "and of what may be run, a file or all in a directory" "$(links --run "$T/ws/build/tool" --run "$T/ws/out/")" 2
ran() { "$CORDON" run --work "$T/ws" --write "$T/ws/build" --run "$T/ws/build/tool" --run cat -- cat "$T/ws/build/tool" 2>&1; }
has "run says that too before it starts" "$(ran | head -n 1)" "cordon: note: --run: W131: $T/ws/build/tool leads out of the workspace through a symlink, to $T/other/key"
ln -s /usr/bin/env "$T/ws/dir/env"
is "a link to a program file of the host is usual" "$(links --run "$T/ws/dir/env")" 0
is "one that stays inside does not" "$(links --read "$T/ws/in" --read "$T/ws/absolute/file" --read "$T/ws/dir" --read "$T/ws" --read "$T/ws/none?")" 0
is "nor one that is written outside" "$(links --read "$T/other")" 0
has "run says it before it starts" "$("$CORDON" run --work "$T/ws" --read "$T/ws/out" -- cat "$T/ws/out/file" 2>&1 | head -n 1)" "cordon: note: --read: W131: $T/ws/out leads out of the workspace"
is "-q is silent, and the door leads where it led" "$("$CORDON" run -q --work "$T/ws" --read "$T/ws/out" -- cat "$T/ws/out/file" 2>&1)" outside
# ---- where ids cannot be mapped: overlayfs, on which containers stand ----
if [ "$(id -u)" -eq 0 ] && unshare -m sh -c 'mkdir "$0" && mount -t tmpfs o "$0" && cd "$0" && mkdir l u w m && mount -t overlay o -o lowerdir=l,upperdir=u,workdir=w m' "$T/probe" 2>/dev/null; then
        cat >overlay.sh <<'END'
mkdir "$2" && mount -t tmpfs o "$2" && cd "$2" && mkdir l u w m plain && mount -t overlay o -o lowerdir=l,upperdir=u,workdir=w m &&
        echo text >m/f && chmod -R a+rX "$2" && mkdir -m 700 m/state m/mine && chown 65533:65533 m/mine || exit 1
case $3 in
door) "$1" run -q --read "$2/m/f" -- cat "$2/m/f" ;;
user) exec setpriv --reuid 65533 --regid 65533 --clear-groups env CORDON_STATE="$2/m/mine" "$1" run -q --read "$2/m/f" -- cat "$2/m/f" ;;
layer) mount -t tmpfs o /var/tmp && CORDON_STATE=$2/m/state "$1" run -q --edit "$2/plain" -- echo OPEN ;;
esac
END
        over() { unshare -m sh overlay.sh "$CORDON" "$T/over-$1" "$1" 2>&1 </dev/null; }
        has "a door there says who can use it" "$(over door)" "run cordon as an ordinary user who may use the files"
        is "and that one can" "$(over user)" text
        is "a private layer lies elsewhere then" "$(over layer)" OPEN
else
        skip "a door there says who can use it" "no overlay can be mounted here"
fi
# --- options over a home or a store of secrets ---
mkdir -p "$T/me/.ssh" "$T/me/project" && echo key >"$T/me/.ssh/id" && echo x >"$T/me/project/.env" && chmod -R a+rwX "$T/me"
printf 'use base/system\nwrite {home}/.ssh\n' >"$T/insist.policy" && chmod 644 "$T/insist.policy"
for who in root as_user; do
        typed() { (cd "$T/me/project" && CORDON_STATE=$T/me-state.$who $who env HOME="$T/me" "$CORDON" run "$@" -- cat "$T/me/.ssh/id" 2>&1 </dev/null); }
        for door in "$T/me" "$T/me/.ssh" "$T" /home; do
                has "$who: --write ${door#"$T"/} is refused" "$(typed --write "$door")" "E141: --write on $door"
        done
        has "$who: with the way to insist" "$(typed --write "$T/me/.ssh")" "or put \`write $T/me/.ssh\` in a policy file"
        is "$who: which works" "$(typed -q -p "$T/insist.policy")" key
        has "$who: --read of a store of secrets is said" "$(typed --read "$T/me/.ssh")" "note: --read: W122: $T/me/.ssh contains secrets"
        has "$who: --edit of a whole home is said" "$(typed --edit "$T/me")" "note: --edit: W123: all of $T/me"
        hasnt "$who: a file of the workspace is not refused" "$(typed --write "$T/me/project/.env")" E141
done
done_testing
