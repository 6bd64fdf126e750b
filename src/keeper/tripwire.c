/* SPDX-License-Identifier: MIT */
/* keeper/tripwire.c - effects that no box needs and an escape does: they were denied already, and a caller
 * who asked for it gets an alarm and no box that goes on trying. Never permits anything. */
#include "base/str.h"
#include "keeper/internal.h"

#include <ctype.h>
#include <string.h>

static const struct {
        const char *name;
        unsigned bit;
} kinds[] = { { "calls", BOX_TRIP_CALLS },
              { "secrets", BOX_TRIP_SECRETS },
              { "credentials", BOX_TRIP_CREDENTIALS },
              { "doors", BOX_TRIP_DOORS } };

int box_trip_find(struct span name, unsigned *bits)
{
        if (span_is(name, "all")) {
                *bits |= BOX_TRIP_CALLS | BOX_TRIP_SECRETS | BOX_TRIP_CREDENTIALS | BOX_TRIP_DOORS;
                return 0;
        }

        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
                if (span_is(name, kinds[i].name)) {
                        *bits |= kinds[i].bit;
                        return 0;
                }
        return -1;
}

/* Of the machine, never of a program's own work. */
static const char *const calls[] = { "kexec_load",
                                     "kexec_file_load",
                                     "init_module",
                                     "finit_module",
                                     "delete_module",
                                     "reboot",
                                     "swapon",
                                     "swapoff",
                                     "iopl",
                                     "ioperm",
                                     "open_by_handle_at",
                                     "acct",
                                     "quotactl",
                                     "quotactl_fd",
                                     "setns",
                                     "pivot_root",
                                     "settimeofday",
                                     "clock_settime",
                                     "bpf",
                                     "pidfd_getfd",
                                     "syslog",
                                     "mount",
                                     "umount2",
                                     "move_mount",
                                     "mount_setattr",
                                     "fsopen",
                                     "open_tree" };

static bool is_call(const char *what)
{
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
                size_t n = strlen(calls[i]);
                if (strncmp(what, calls[i], n) == 0 && !isalnum((unsigned char) what[n]) && what[n] != '_')
                        return true;
        }
        return false;
}

static bool trips(unsigned on, const struct effect_row *n)
{
        enum effect_kind k = n->effect.kind;
        bool path = effect_kind_has_path(k);
        if (on & BOX_TRIP_CALLS && k == EFFECT_CALL && is_call(n->what))
                return true;
        if (on & BOX_TRIP_SECRETS && path && policy_holds_secrets(n->effect.target))
                return true;
        if (on & BOX_TRIP_CREDENTIALS && k == EFFECT_CREDENTIAL)
                return true;
        return on & BOX_TRIP_DOORS && n->weight == EFFECT_PLAIN && k != EFFECT_LIMIT;
}

void tripwire_look(struct run *run, const struct effect_row *n)
{
        char shown[160];
        bool ended = run->box->init_gone || run->box->killed || run->r.end != BOX_RUNNING;
        if (ended || !trips(run->c->trip, n))
                return;

        (void) err_set(&run->refused, ERR_DOOR, 0, "tripwire: %s was denied, and the box was stopped",
                       str_inert(span_str(n->what), shown, sizeof shown));
        box_kill(run->box);
}
