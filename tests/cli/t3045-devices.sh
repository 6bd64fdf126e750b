#!/bin/sh
# `dev` doors: a device of a fixed list, by its name and its number; and `sock` doors of a desktop session by their short names.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
box() { timeout 60 "$CORDON" run -q "$@" </dev/null 2>&1; }

# ---- devices ----
for d in /dev/sda /dev/nvme0n1 /dev/mem /dev/kmsg /dev/input/event0 /dev/uinput /dev/tty1 /dev/console /dev/loop0 /dev/ptmx /dev/net/tun /dev/kvm0 /dev/nvidia-uvm9 /dev/dri/renderD /dev/dri/../mem /etc/passwd; do
        is "no door: dev $d" "$(status "$CORDON" run --dev "$d" -- true)" 125
done
has "with the reason" "$("$CORDON" run --dev /dev/sda -- true 2>&1)" "a raw disk has all files of the host"
is "one that may be missing may" "$(box --dev '/dev/dri/renderD9999?' -- echo fine)" fine
is "one that is missing may not" "$(status "$CORDON" run --dev /dev/dri/renderD9999 -- true)" 125
has "doors tells the cost" "$("$CORDON" doors --dev /dev/dri/renderD128)" "its driver is a large part of the kernel"
has "and that no control group stands behind it" "$("$CORDON" doors --dev /dev/dri/renderD128)" "no device rule of a control group"
has "so does why" "$("$CORDON" why dev /dev/kvm)" "KVM is a large part of the kernel"
has "and a lint" "$(printf 'dev /dev/kvm\nexpect deny dev /dev/fuse\n' >p && "$CORDON" check p 2>&1)" W148
if [ -w /dev/fuse ] && [ "$(stat -c %a /dev/fuse)" = 666 ]; then
        is "a device opens, for reading and writing" "$(box --dev /dev/fuse -- sh -c 'exec 3<>/dev/fuse && echo open')" open
        is "as the device it is" "$(box --dev /dev/fuse -- stat -c %t:%T /dev/fuse)" a:e5
        has "claims lists it with its cost" "$(timeout 120 "$CORDON" selftest claims --dev /dev/fuse 2>&1)" "door: /dev/fuse: a file system's side of FUSE"
        has "without the door it is not there" "$(box -- ls /dev/fuse)" "o such file"
        has "one that was not named is not there beside it" "$(box --dev /dev/fuse -- ls /dev/kvm)" "o such file"
        has "another path of the host does not come along" "$(box --dev /dev/fuse -- ls /dev/mem)" "o such file"
else
        skip "a device opens" "/dev/fuse is not for all here"
fi
if [ -c /dev/kvm ] && ! { [ -r /dev/kvm ] && [ -w /dev/kvm ]; }; then
        is "one that the user may not open is refused at the start" "$(status "$CORDON" run --dev /dev/kvm -- true)" 125
else
        skip "one that the user may not open is refused at the start" "/dev/kvm is not there, or open to this user"
fi
is "the process wall refuses it" "$(status "$CORDON" run --wall process --dev '/dev/fuse?' -- true)" 125

# ---- the sockets of a session ----
mkdir -p run/pulse
python3 -c '
import os, socket
s = []
for name in ("wayland-0", "pulse/native", "pipewire-0", "wayland-7"):
    c = socket.socket(socket.AF_UNIX); c.bind("run/" + name); c.listen(4); s.append(c)
open("up", "w").write(str(os.getpid()))
while True: s[0].accept()[0].sendall(b"wayland")
' &
soon test -s up
export XDG_RUNTIME_DIR="$T/run"
unset WAYLAND_DISPLAY PULSE_SERVER PIPEWIRE_REMOTE DISPLAY
talk='import os,socket; s=socket.socket(socket.AF_UNIX); s.connect(os.environ["WAYLAND_DISPLAY"]); print(s.recv(9).decode())'
is "sock wayland: the variable leads to the socket" "$(box --sock wayland -- python3 -c "$talk")" wayland
is "the variable of the caller counts" "$(WAYLAND_DISPLAY=wayland-7 box --sock wayland -- sh -c 'echo "$WAYLAND_DISPLAY"')" "$T/run/wayland-7"
is "sock pulse" "$(box --sock pulse -- sh -c 'echo "$PULSE_SERVER"')" "unix:$T/run/pulse/native"
is "sock pipewire" "$(box --sock pipewire -- sh -c 'echo "$PIPEWIRE_REMOTE"')" "$T/run/pipewire-0"
is "no other socket comes along" "$(box --sock pipewire -- sh -c 'ls "$1"' sh "$T/run")" pipewire-0
is "no session: no door" "$(XDG_RUNTIME_DIR='' status "$CORDON" run --sock wayland -- true)" 125
is "no display: no door" "$(status "$CORDON" run --sock x11 -- true)" 125
has "doors tells what X11 costs" "$(DISPLAY=:7.0 "$CORDON" doors --sock x11)" "X11: clients see all keys and windows"
has "and where it is" "$(DISPLAY=:7.0 "$CORDON" doors --sock x11)" /tmp/.X11-unix/X7
has "doors tells what sound costs" "$("$CORDON" doors --sock pulse)" "use the microphone"
has "a file of that name is ./wayland" "$("$CORDON" run --sock ./wayland -- true 2>&1)" "$T/wayland does not exist"
kill "$(cat up)"
done_testing
