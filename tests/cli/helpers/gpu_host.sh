#!/bin/sh
# tests/cli/helpers/gpu_host.sh DIR MAKER COMMAND...: runs it, in a mount namespace of the caller's, with DIR as its /dev: nodes of
# GPUs without a driver. Root's.
d=$1 maker=$2
shift 2
mount -t tmpfs -o mode=755 none "$d" || exit 1
for n in null zero full random urandom tty; do : >"$d/$n" && mount --bind "/dev/$n" "$d/$n" || exit 1; done
mkdir "$d/pts" "$d/shm" "$d/dri" && ln -s pts/ptmx "$d/ptmx" && ln -s /proc/self/fd "$d/fd" && mount --bind /dev/pts "$d/pts"
case $maker in
nvidia) set -- "nvidia0 195 0" "nvidia1 195 1" "nvidiactl 195 255" "nvidia-uvm 511 0" "nvidia-uvm-tools 511 1" "nvidia-modeset 195 254" -- "$@" ;;
broken) set -- "nvidia0 195 0" "nvidiactl 195 255" -- "$@" ;;
wrong) set -- "nvidia0 1 5" "nvidiactl 195 255" "nvidia-uvm 511 0" -- "$@" ;;
amd) set -- "kfd 510 0" "dri/card0 226 0" "dri/renderD128 226 128" -- "$@" ;;
none) set -- -- "$@" ;;
esac
while [ "$1" != -- ]; do
        # shellcheck disable=SC2086
        mknod -m 666 "$d/${1%% *}" c ${1#* } || exit 1
        shift
done
shift
mount --rbind "$d" /dev && exec "$@"
