/* SPDX-License-Identifier: MIT */
/* selftest/probe/probe_table.c - joins the tables of all classes, and names things. Pure. */
#include "selftest/probe/probe_internal.h"

#include <string.h>

static const char *const class_names[] = {
        [PROBE_FILES] = "files",           [PROBE_MOUNTS] = "mounts",     [PROBE_PROCESSES] = "processes",
        [PROBE_NAMESPACES] = "namespaces", [PROBE_KERNEL] = "kernel",     [PROBE_ABI] = "foreign-abi",
        [PROBE_SOCKETS] = "sockets",       [PROBE_TERMINAL] = "terminal", [PROBE_EXECUTION] = "execution",
        [PROBE_PRIVILEGE] = "privilege",   [PROBE_SECRETS] = "secrets",   [PROBE_DUMPS] = "dumps",
        [PROBE_MACHINE] = "machine",       [PROBE_DEVICES] = "devices",   [PROBE_CHANNELS] = "channels",
        [PROBE_LIMITS] = "limits",         [PROBE_RACES] = "races",
};
_Static_assert(sizeof class_names / sizeof *class_names == PROBE_CLASS__COUNT, "a name for each class");

const char *probe_class_name(enum probe_class c)
{
        return (unsigned) c < PROBE_CLASS__COUNT ? class_names[c] : "?";
}

const char *probe_outcome_name(enum probe_outcome o)
{
        static const char *const names[] = { "cannot-tell", "held", "ESCAPED" };
        return (unsigned) o < PROBE_OUTCOME__COUNT ? names[o] : "?";
}

static const struct probe_list *const lists[] = {
        &probes_files,      &probes_files_more, &probes_landlock,  &probes_mounts,  &probes_processes,
        &probes_namespaces, &probes_kernel,     &probes_abi,       &probes_sockets, &probes_netlink,
        &probes_terminal,   &probes_execution,  &probes_privilege, &probes_secrets, &probes_dumps,
        &probes_machine,    &probes_devices,    &probes_channels,  &probes_limits,  &probes_races,
};

const struct probe *const *probe_table(size_t *ret_count)
{
        static const struct probe *all[512];
        size_t n = 0;
        for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
                for (size_t k = 0; k < lists[i]->count && n < sizeof all / sizeof all[0]; k++)
                        all[n++] = &lists[i]->rows[k];

        *ret_count = n;
        return all;
}

static bool lists_layer(const char *layers, const char *name)
{
        size_t n = strlen(name);
        for (const char *at = strstr(layers, name); at; at = strstr(at + 1, name))
                if ((at == layers || at[-1] == ',') && (at[n] == '\0' || at[n] == ','))
                        return true;
        return false;
}

/* Which mechanism answers with which error. The first row whose layer the probe expects wins. */
const char *probe_layer_of(const struct probe *p, int sys)
{
        static const struct {
                int sys;
                const char *layer;
        } voices[] = {
                { 0, "" } /* no error: the table's first layer */,
                { ENOENT, "mount" },
                { EROFS, "mount" },
                { ENOTDIR, "mount" },
                { ENOSYS, "seccomp" },
                { EAFNOSUPPORT, "seccomp" },
                { EOPNOTSUPP, "seccomp" },
                { ESRCH, "pid" },
                { EACCES, "landlock" },
                { EACCES, "memfd-noexec" },
                { EACCES, "mount" },
                { EPERM, "seccomp" },
                { EPERM, "capabilities" },
                { EINVAL, "seccomp" },
                { ENETUNREACH, "net" },
                { EBADF, "stdio" },
                { ENXIO, "pid" },
        };

        static char first[24];
        for (size_t i = 1; sys != 0 && i < sizeof voices / sizeof *voices; i++)
                if (voices[i].sys == sys && lists_layer(p->layers, voices[i].layer))
                        return voices[i].layer;

        size_t n = strcspn(p->layers, ",");
        if (n >= sizeof first)
                return "";

        memcpy(first, p->layers, n);
        first[n] = '\0';
        return first;
}
