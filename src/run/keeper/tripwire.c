/* SPDX-License-Identifier: MIT */
/* run/keeper/tripwire.c - effects that no box needs and an escape does: they were denied already, and a
 * caller who asked for it gets an alarm and no box that goes on trying. Never permits anything. */
#include "base/str.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
        const char *name;
        unsigned bit;
} kinds[] = { { "calls", BOX_TRIP_CALLS },
              { "secrets", BOX_TRIP_SECRETS },
              { "credentials", BOX_TRIP_CREDENTIALS },
              { "doors", BOX_TRIP_DOORS },
              { "canaries", BOX_TRIP_CANARIES } };

int box_trip_find(struct span name, unsigned *bits)
{
        if (span_is(name, "all")) {
                for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
                        *bits |= kinds[i].bit;
                return 0;
        }

        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
                if (span_is(name, kinds[i].name)) {
                        *bits |= kinds[i].bit;
                        return 0;
                }
        return -1;
}

/* Calls that change the machine; no program needs them for its own work. */
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

static bool is_call(const char *name)
{
        for (size_t i = 0; name && i < sizeof calls / sizeof *calls; i++)
                if (strcmp(name, calls[i]) == 0)
                        return true;
        return false;
}

static bool denial_trips(unsigned on, const struct effect_row *n)
{
        enum effect_kind k = n->effect.kind;
        bool path = effect_kind_has_path(k);
        if (n->effect.reason == REASON_CANARY)
                return true; /* nobody needs it */
        if (on & BOX_TRIP_CALLS && k == EFFECT_CALL && is_call(n->call))
                return true;
        if (on & BOX_TRIP_SECRETS && path && policy_holds_secrets(n->effect.target))
                return true;
        if (on & BOX_TRIP_CREDENTIALS && k == EFFECT_CREDENTIAL)
                return true;
        return on & BOX_TRIP_DOORS && n->weight == EFFECT_PLAIN && k != EFFECT_LIMIT;
}

static bool has_ended(const struct run *run)
{
        return run->box->init_gone || run->box->killed || run->r.out.end != CORDON_RUNNING;
}

static void stop_box(struct run *run, const char *what)
{
        run->stopped_by = "tripwire";
        bool late = has_ended(run); /* the row came after the payload's end */
        (void) err_set(&run->refused, ERR_DOOR, 0, "tripwire: %s, and the box %s", what,
                       late ? "had ended" : "was stopped");
        if (!late)
                box_kill(run->box);
}

void tripwire_look(struct run *run, const struct effect_row *n)
{
        char shown[160], what[192];
        if (run->refused.code != ERR_NONE || !denial_trips(run->c->trip, n))
                return;

        (void) snprintf(what, sizeof what, "%s was denied",
                        str_inert(span_str(n->what), shown, sizeof shown));
        stop_box(run, what);
}

/* So many names were looked up that no more are reported: a flood must not hide the one that trips. */
void tripwire_lost(struct run *run, enum effect_kind kind)
{
        bool secret = kind == EFFECT_NONE, path = secret || effect_kind_has_path(kind);
        unsigned by = (secret ? BOX_TRIP_SECRETS : 0) | (path ? BOX_TRIP_DOORS : 0);
        if (run->refused.code == ERR_NONE && run->c->trip & by)
                stop_box(run, secret ? "more names of secrets were looked up than can be reported"
                                     : "more paths were looked up than can be reported");
}

/* ---- canaries in streams without a form: they pass as they are, and are looked at ---- */

int tripwire_watch(const struct run *run, struct known **ret, struct err *e)
{
        struct known_word words[KNOWN_MAX];
        unsigned n = run->c->canary_count;
        if (!(run->c->trip & BOX_TRIP_CANARIES) || n == 0)
                return 0;

        for (unsigned i = 0; i < n && i < KNOWN_MAX; i++)
                words[i] = (struct known_word){ run->c->canaries[i].name, span_str(run->c->canaries[i].value),
                                                true };
        *ret = known_new(words, n);
        return *ret ? 0 : err_set(e, ERR_MEMORY, ENOMEM, "out of memory");
}

void tripwire_see(struct run *run, struct known *watch, const char *stream, struct span said)
{
        int i = watch ? known_see(watch, said) : -1;
        if (i < 0 || run->refused.code != ERR_NONE)
                return;

        run->stopped_by = "tripwire";
        (void) err_set(&run->refused, ERR_DOOR, 0,
                       "tripwire: %s contains the canary %s, and the box was stopped", stream,
                       run->c->canaries[i].name);
        if (!has_ended(run))
                box_kill(run->box);
}
