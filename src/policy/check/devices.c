/* SPDX-License-Identifier: MIT */
/* policy/check/devices.c - devices that a `dev` door can open, with what each gives away, and why a box never
 * has the others. A device is known by its name here and by its number when the box starts. Pure. */
#include "policy/internal.h"

#define GPU                                                                                                  \
        "its driver is a large part of the kernel that the box can attack, and memory of the GPU may hold "  \
        "what "                                                                                              \
        "other programs drew or computed"

static const struct policy_device devices[] = {
        { "/dev/kvm", 10, 232,
          "virtual machines of its own: KVM is a large part of the kernel, with full rights, that the box "
          "can attack" },
        { "/dev/fuse", 10, 229,
          "a file system's side of FUSE: of use only where something outside mounts it" },
        { "/dev/dri/renderD#", 226, -1, GPU },
        { "/dev/dri/card#", 226, -1, GPU "; a card also shows and changes what is on the screen" },
        { "/dev/kfd", -1, -1, GPU },
        { "/dev/dxg", 10, -1, GPU },
        { "/dev/nvidia#", 195, -1, GPU },
        { "/dev/nvidiactl", 195, 255, GPU },
        { "/dev/nvidia-modeset", 195, 254, GPU "; it also changes what is on the screen" },
        { "/dev/nvidia-uvm", -1, 0, GPU },
        { "/dev/nvidia-uvm-tools", -1, 1, GPU },
        { "/dev/nvidia-caps/nvidia-cap#", -1, -1, GPU },
        { "/dev/gpu", -1, -1,
          GPU
          "; of NVIDIA's requests only listed ones pass, but RM_CONTROL carries one of many commands that no "
          "filter sees; use by others can be timed" },
};

static const struct {
        const char *start, *why;
} refused[] = {
        { "/dev/sd", "a raw disk has all files of the host, past every door" },
        { "/dev/nvme", "a raw disk has all files of the host, past every door" },
        { "/dev/vd", "a raw disk has all files of the host, past every door" },
        { "/dev/xvd", "a raw disk has all files of the host, past every door" },
        { "/dev/hd", "a raw disk has all files of the host, past every door" },
        { "/dev/md", "a raw disk has all files of the host, past every door" },
        { "/dev/dm-", "a raw disk has all files of the host, past every door" },
        { "/dev/sg", "a raw disk has all files of the host, past every door" },
        { "/dev/mmcblk", "a raw disk has all files of the host, past every door" },
        { "/dev/mapper", "a raw disk has all files of the host, past every door" },
        { "/dev/disk", "a raw disk has all files of the host, past every door" },
        { "/dev/loop", "a loop device mounts a file as a disk, which is root's" },
        { "/dev/mem", "it is the memory of the machine" },
        { "/dev/kmem", "it is the memory of the machine" },
        { "/dev/port", "it is the memory of the machine" },
        { "/dev/kmsg", "it is the kernel's log" },
        { "/dev/input", "it sees every key that is pressed" },
        { "/dev/uinput", "it types and clicks as the person at the machine" },
        { "/dev/hidraw", "it sees every key that is pressed" },
        { "/dev/tty", "a terminal of the host can be typed into" },
        { "/dev/pts", "a terminal of the host can be typed into" },
        { "/dev/ptmx", "a box has terminals of its own" },
        { "/dev/console", "a terminal of the host can be typed into" },
        { "/dev/vcs", "it shows and changes what is on a console" },
        { "/dev/snd", "sound goes by the socket of a sound server, `sock pipewire` or `sock pulse`" },
};

static bool is_number(const char *s) { return s[0] && strlen(s) <= 4 && s[strspn(s, "0123456789")] == '\0'; }

static bool is_named(const char *name, const char *path)
{
        size_t n = strlen(name);
        if (name[n - 1] != '#')
                return strcmp(name, path) == 0;
        return strncmp(path, name, n - 1) == 0 && is_number(path + n - 1);
}

const struct policy_device *policy_device(const char *path)
{
        for (size_t i = 0; i < COUNT(devices); i++)
                if (is_named(devices[i].name, path))
                        return &devices[i];
        return policy_gpu(path) ? policy_device("/dev/gpu") : NULL;
}

const char *policy_device_refused(const char *path)
{
        for (size_t i = 0; i < COUNT(refused); i++)
                if (strncmp(path, refused[i].start, strlen(refused[i].start)) == 0)
                        return refused[i].why;
        return "it is not among the devices that programs in a box need";
}

const char *policy_dev_cost(const char *path)
{
        const struct policy_device *d = policy_device(path);
        return d ? d->cost : policy_device_refused(path);
}
