/* SPDX-License-Identifier: MIT */
/* base/host/probe.c - the table of checks of `cordon doctor`. Never: changes the host; everything a check
 * makes is in namespaces of its own and goes away with them. */
#include "base/host/internal.h"
#include "base/str.h"

#include <string.h>

static const struct {
        const char *layer;
        host_look *look;
        bool needed;
} rows[] = {
        { "kernel", host_look_kernel, false },         { "account", host_look_account, false },
        { "container", host_look_container, false },   { "user namespaces", host_look_userns, true },
        { "mount namespace", host_look_mount, true },  { "pid namespace", host_look_pid, true },
        { "fresh /proc", host_look_proc, true },       { "files in /proc", host_look_proc_files, false },
        { "net namespace", host_look_net, true },      { "ipc namespace", host_look_ipc, true },
        { "uts namespace", host_look_uts, true },      { "cgroup namespace", host_look_cgroup_ns, true },
        { "time namespace", host_look_time, false },   { "net link", host_look_veth, false },
        { "net broker", host_look_broker, false },     { "vault", host_look_vault, false },
        { "net roots", host_look_roots, false },       { "net sockets", host_look_take, false },
        { "overlay", host_look_overlay, false },       { "fuse", host_look_fuse, false },
        { "idmapped mounts", host_look_idmap, false }, { "no_new_privs", host_look_nnp, true },
        { "seccomp filter", host_look_seccomp, true }, { "seccomp notify", host_look_notify, true },
        { "landlock", host_look_landlock, true },      { "memory limit", host_look_memory, false },
        { "process limit", host_look_procs, false },   { "memfd noexec", host_look_memfd, false },
        { "core dumps", host_look_core, false },       { "terminal injection", host_look_tiocsti, false },
        { "io_uring", host_look_io_uring, false },     { "kvm", host_look_kvm, false },
};

static void look_probe(const struct cordon_context *cx, unsigned i, struct host_finding *ret)
{
        *ret = (struct host_finding){ .cx = cx, .layer = rows[i].layer, .needed = rows[i].needed };
        rows[i].look(ret);
}

bool host_look_at(const struct cordon_context *cx, const char *layer, struct host_finding *ret)
{
        int i = str_row(rows, sizeof rows / sizeof *rows, layer);
        if (i >= 0)
                look_probe(cx, (unsigned) i, ret);
        return i >= 0;
}

bool host_missing(const struct cordon_context *cx, struct host_finding *ret)
{
        for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
                if (!rows[i].needed)
                        continue;
                look_probe(cx, i, ret);
                if (ret->state == HOST_NO)
                        return true;
        }
        return false;
}

unsigned host_probe(const struct cordon_context *cx, struct host_finding *ret, unsigned cap)
{
        unsigned n = 0;
        for (; n < cap && n < sizeof rows / sizeof *rows; n++)
                look_probe(cx, n, &ret[n]);
        return n;
}
