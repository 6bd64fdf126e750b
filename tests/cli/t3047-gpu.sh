#!/bin/sh
# `gpu` doors: the nodes that compute needs on a host that is made up of nodes without a driver; the requests that pass, and those that are refused and named.
# shellcheck disable=SC2016,SC1091
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
cd "$T" || exit 1
uuid=GPU-01234567-89ab-cdef-0123-456789abcdef

# ---- the language, on any host ----
for name in x 00 100 -1 GPU-1 ../kvm; do
        is "no GPU: $name" "$(status "$CORDON" run "--gpu=$name" -- true)" 125
done
has "doors tells the cost" "$("$CORDON" doors --gpu=0)" "RM_CONTROL carries one of many commands"
has "and which GPU" "$("$CORDON" doors --gpu=0)" "gpu 0 "
has "the limits leave room for a framework" "$("$CORDON" doors --gpu)" "memory 16G procs 1024"
has "unless they are stated" "$("$CORDON" doors --gpu --memory 1G)" "memory 1G procs 1024"
is "why: a door to all has each" "$("$CORDON" why --gpu dev /dev/nvidia3 | head -n 1)" "allow  dev /dev/nvidia3"
is "why: a door to one has no other" "$("$CORDON" why --gpu=0 dev /dev/nvidia3 | head -n 1)" "deny   dev /dev/nvidia3"
has "why: the smallest line" "$("$CORDON" why dev /dev/nvidiactl)" "permit gpu"
is "but not to display" "$("$CORDON" why dev /dev/nvidia-modeset | grep ^permit)" "permit dev /dev/nvidia-modeset"
printf 'gpu\ngpu 1 %s until 2030-01-01\nexpect deny dev /dev/kvm\n' $uuid >p
has "a lint names the cost" "$("$CORDON" check p 2>&1)" W148
has "a line implied by another" "$("$CORDON" check p 2>&1)" W119
is "JSON and back" "$("$CORDON" policy show --json p | "$CORDON" policy show /dev/stdin 2>&1 | grep '^gpu')" "gpu
gpu 1 until 2030-01-01T00:00Z
gpu $uuid until 2030-01-01T00:00Z"
is "it cannot ask" "$(printf 'gpu 0 ask\n' >q && status "$CORDON" check q)" 125
is "the process wall refuses it" "$(status "$CORDON" run --wall process --gpu -- true)" 125
is "no module has it" "$(printf 'wall wasm\ngpu\n' >q && status "$CORDON" check q)" 125

# ---- a host with a /dev of its own: two GPUs of NVIDIA without a driver ----
mkdir dev
on() { # MAKER COMMAND...
        unshare -m sh "$here/helpers/gpu_host.sh" "$T/dev" "$@" 2>&1 </dev/null
}
if [ "$(on nvidia stat -c %t:%T /dev/nvidiactl)" != c3:ff ]; then
        skip "a host with GPUs" "no nodes can be made here: that is root's"
        done_testing
        exit
fi
devices="Character devices:
195 nvidia0
195 nvidia1
195 nvidiactl
511 nvidia-uvm"
[ ! -e /proc/driver/nvidia/params ] || devices="$devices
ModifyDeviceFiles: 0
DeviceFileUID: 0
DeviceFileGID: 0
DeviceFileMode: 438"
list='ls /dev /dev/dri 2>/dev/null | grep -e nvidia -e render -e kfd -e card'
run() { # MAKER OPTIONS... -- COMMAND...: quietly
        maker=$1
        shift
        on "$maker" timeout 60 "$CORDON" run -q "$@"
}
is "gpu: what compute needs" "$(run nvidia --gpu -- sh -c "$list")" "nvidia-uvm
nvidia0
nvidia1
nvidiactl"
is "gpu 1: of the others none" "$(run nvidia --gpu=1 -- sh -c "$list")" "nvidia-uvm
nvidia1
nvidiactl"
is "two lines share nodes" "$(run nvidia --gpu=1 --gpu=0 -- sh -c "$list" | wc -l)" 4
is "without the door it sees none" "$(run nvidia -- sh -c "$list")" ""
is "they are the devices that they are" "$(run nvidia --gpu -- stat -c %t:%T /dev/nvidiactl)" c3:ff
is "its driver is told to make no nodes" "$(run nvidia --gpu -- sh -c 'cat /proc/devices /proc/driver/nvidia/params 2>/dev/null')" "$devices"
is "where the host has none it has none" "$(run amd --gpu -- cat /proc/devices)" "cat: /proc/devices: No such file or directory"
cluster='mount -t tmpfs none /usr/local && mkdir -p /usr/local/nvidia/lib64 && exec "$@"'
is "libraries where ld.so does not look are found" "$(on nvidia sh -c "$cluster" sh "$CORDON" run -q --gpu -- sh -c 'echo "$LD_LIBRARY_PATH"')" /usr/local/nvidia/lib64
printf 'use none\nrun /bin/true\ngpu\n' >q
is "also without the stock policy that shows /usr" "$(on nvidia sh -c "$cluster" sh "$CORDON" run --plan -p q -- /bin/true | grep -c '^bind */usr/local/nvidia/lib64 ro exec')" 1
is "a variable of the policy stays" "$(on nvidia sh -c "$cluster" sh env LD_LIBRARY_PATH=/opt/x "$CORDON" run -q --gpu --env LD_LIBRARY_PATH -- sh -c 'echo "$LD_LIBRARY_PATH"')" /opt/x
is "where there are none it is not set" "$(run nvidia --gpu -- sh -c 'echo "${LD_LIBRARY_PATH-none}"')" "$([ -d /usr/local/nvidia/lib64 ] && echo /usr/local/nvidia/lib64 || echo none)"
is "AMD: by the same line" "$(run amd --gpu -- sh -c "$list")" "kfd
renderD128"
has "no GPU: says so" "$(on none "$CORDON" run --gpu -- true)" "this host has no GPU"
has "not that one" "$(on nvidia "$CORDON" run --gpu=2 -- true)" "this host has no GPU 2"
has "nor one with that UUID" "$(on nvidia "$CORDON" run --gpu=$uuid -- true)" "this host has no GPU $uuid"
has "a missing part is named, with its remedy" "$(on broken "$CORDON" run --gpu -- true)" "the GPU's driver has no /dev/nvidia-uvm"
has "what only has the name is refused" "$(on wrong "$CORDON" run --gpu -- true)" "/dev/nvidia0 is not the device that has this name"

has "doctor names what it opens" "$(on nvidia "$CORDON" doctor | grep '^ok *gpu ')" ": /dev/nvidia0 /dev/nvidia1 /dev/nvidiactl /dev/nvidia-uvm"
has "and what is missing" "$(on broken "$CORDON" doctor | grep -A1 '^missing *gpu ')" "/dev/nvidia-uvm is missing"
has "with the command" "$(on broken "$CORDON" doctor | grep -A1 '^missing *gpu ')" "fix: nvidia-modprobe -u -c 0"
has "a node that is root's alone" "$(on nvidia sh -c 'chmod 660 /dev/nvidia0 && exec "$0" doctor' "$CORDON" | grep '^missing *gpu ')" "/dev/nvidia0 is not open to boxes"
is "no row without a GPU" "$(on none "$CORDON" doctor | grep -c '^[a-z]* *gpu ')" 0

# ---- requests ----
cat >ask.py <<'END'
import errno, fcntl, sys
for r in sys.argv[1:]:
    try:
        fcntl.ioctl(1, int(r, 16), bytes(64))
        print(r, "made")
    except OSError as e:
        print(r, errno.errorcode[e.errno])
END
is "listed requests reach the descriptor, others nothing" "$(run nvidia --gpu --read "$T/ask.py" -- python3 "$T/ask.py" c020462a c030462b 17 30000001 541b c01046d3 c020552a 38 c0406400 ae01)" "c020462a ENOTTY
c030462b ENOTTY
17 ENOTTY
30000001 ENOTTY
541b made
c01046d3 EPERM
c020552a EPERM
38 EPERM
c0406400 EPERM
ae01 EPERM"
has "and are named" "$(on nvidia "$CORDON" run --gpu --read "$T/ask.py" -- sh -c "python3 $T/ask.py c01046d3; exit 1")" "blocked: ioctl(0xc01046d3) by python3"
is "a dev door to such a node has the same list" "$(run nvidia --dev /dev/nvidiactl --read "$T/ask.py" -- python3 "$T/ask.py" c020462a c01046d3)" "c020462a ENOTTY
c01046d3 EPERM"
is "a box without one has none" "$(run nvidia --read "$T/ask.py" -- python3 "$T/ask.py" c01046d3)" "c01046d3 ENOTTY"
is "a terminal works beside it" "$(run nvidia --gpu -- python3 -c 'import os, pty; m, s = pty.openpty(); print(os.isatty(s), os.get_terminal_size(s)[0])')" "True 0"

# ---- found by what was missing ----
cat >open.py <<'END'
import os
os.open("/dev/nvidiactl", os.O_RDWR | os.O_PATH)
END
if [ -e /dev/fuse ]; then
        cat >with-fuse <<'END'
mknod -m 666 /dev/fuse c 10 229 && exec "$@"
END
        is "where hidden paths are told it has the texts, too" "$(on nvidia sh with-fuse "$CORDON" run -q --gpu -- head -n 1 /proc/devices)" "Character devices:"
        has "a report has the option" "$(on nvidia sh with-fuse "$CORDON" run --read "$T/open.py" -- python3 "$T/open.py")" "hint: --gpu"
        has "learn proposes the line" "$(on nvidia sh with-fuse "$CORDON" learn -n 1 -- python3 "$T/open.py")" "
gpu "
else
        skip "a report has the option" "no /dev/fuse"
fi
has "learn --gpu begins with it" "$(on nvidia "$CORDON" learn -n 1 --gpu -- python3 open.py)" "
gpu "
done_testing
