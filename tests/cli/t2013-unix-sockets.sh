#!/bin/sh
# Unix sockets among a box's own processes, whatever doors there are; the host's that lie behind a directory door stay out of
# reach unless a `sock` door names them. tests/escape/run-unix.sh attacks the same.
# shellcheck disable=SC2016,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
compile unix_attack

root() { "$@"; }
# box ARGUMENT...: what the payload said, both streams, as $who
box() { $who "$CORDON" run -q "$@" </dev/null 2>&1; }
# said ARGUMENT...: what cordon said
said() { $who "$CORDON" run "$@" </dev/null 2>&1 >/dev/null; }

talk='import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print(s.recv(99).decode(),end="")'
own='import os,socket,sys,threading
a=sys.argv[1]; s=socket.socket(socket.AF_UNIX); s.bind(a); s.listen(4)
threading.Thread(target=lambda: s.accept()[0].sendall(b"own")).start()
c=socket.socket(socket.AF_UNIX); c.connect(a); print(c.recv(9).decode()); os.unlink(a)'
processes='from multiprocessing import connection, Process
def serve(l): c=l.accept(); c.send(c.recv()+1); c.close()
l=connection.Listener(family="AF_UNIX"); p=Process(target=serve,args=(l,)); p.start()
c=connection.Client(l.address); c.send(41); print(c.recv()); p.join()'
datagram='import socket
try: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); print("made")
except OSError as e: print(e.errno)'

for who in root as_user; do
        D=$T/$who
        mkdir -p "$D/door" "$D/other" && chmod -R 755 "$D"
        [ "$(id -u)" -ne 0 ] || [ $who = root ] || chown -R 65533:65533 "$D"
        $who python3 -c '
import os, socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(64)
open(sys.argv[1] + ".new", "w").write(str(os.getpid()))
os.rename(sys.argv[1] + ".new", sys.argv[1] + ".up")
while True:
    c, _ = s.accept(); c.sendall(b"hello from outside\n"); c.close()
' "$D/door/host" 2>/dev/null &
        soon test -e "$D/door/host.up"
        is "$who: outside, the server answers" "$($who python3 -c "$talk" "$D/door/host")" "hello from outside"

        # --- the box's own ---
        for door in "" "--read $D/door" "--edit $D/door" "--write $D/door"; do
                # shellcheck disable=SC2086
                box $door --read "$T/unix_attack" --run any -- "$T/unix_attack" work >seen
                is "$who ${door:-no door}: all that programs do with sockets of their own works" "$(grep -v '^ok ' seen)" end
                # shellcheck disable=SC2086
                is "$who ${door:-no door}: processes that talk" "$(box $door -- python3 -c "$processes")" 42
        done
        is "$who: a server in an edit door" "$(box --edit "$D/door" -- python3 -c "$own" "$D/door/mine")" own
        is "$who: a server in a write door" "$(box --write "$D/door" -- python3 -c "$own" "$D/door/mine")" own

        # --- the host's ---
        for door in read edit write; do
                out=$(said --$door "$D/door" -- python3 -c "$talk" "$D/door/host")
                has "$who: behind a $door door the host's answers nobody" "$out" "PermissionError"
                has "$who: and that is told, with the line that permits it" "$out" "--sock $D/door/host"
                is "$who: beside a $door door a sock door is connected to" "$(box --$door "$D/door" --sock "$D/door/host" -- python3 -c "$talk" "$D/door/host")" "hello from outside"
        done
        is "$who: a sock door below another directory" "$(box --read "$D/other" --sock "$D/door/host" -- python3 -c "$talk" "$D/door/host")" "hello from outside"
        has "$who: what is not shown is not there" "$(box --read "$D/other" -- python3 -c "$talk" "$D/door/host")" "FileNotFoundError"
        has "$who: which is told too" "$(said --read "$D/other" -- python3 -c "$talk" "$D/door/host")" "--sock $D/door/host"
        hasnt "$who: a server of the box's own that is not there is not told" "$(said --read "$D/other" -- python3 -c "$talk" /tmp/mine)" "sock /tmp/mine"
        is "$who: the mode of a socket counts as it does outside" "$($who chmod 0 "$D/door/host"; box --read "$D/door" --sock "$D/door/host" -- python3 -c "$talk" "$D/door/host" | tail -n 1; $who chmod 755 "$D/door/host")" "PermissionError: [Errno 13] Permission denied"

        # --- datagrams ---
        is "$who: no datagrams" "$(box --read "$D/door" -- python3 -c "$datagram")" 93
        # --- none at all ---
        printf 'use base/strict\nread %s\n' "$D/door" >strict.cordon
        is "$who: a strict box makes no sockets" "$(box -p strict.cordon -- python3 -c "$datagram")" 97
        is "$who: not streams either" "$(box -p strict.cordon -- python3 -c "$talk" /tmp/mine | tail -n 1)" "OSError: [Errno 97] Address family not supported by protocol"
        is "$who: the process wall makes no sockets" "$(box --wall process --read "$D/door" -- python3 -c "$datagram")" 97
        # --- ends ---
        box --time 1s --read "$D/door" -- python3 -c 'import socket
s=socket.socket(socket.AF_UNIX); s.bind("/tmp/full"); s.listen(0)
for i in range(3): socket.socket(socket.AF_UNIX).connect("/tmp/full")' >seen
        is "$who: a connection that waits does not outlive the box" $? 124
        kill "$(cat "$D/door/host.up")"
        wait
done
done_testing
