/* SPDX-License-Identifier: MIT */
/* broker/egress/main.c - cordon-egress: the broker of one box. Started by the keeper with one socket and
 * nothing else; egress.h has the protocol. */
#include "base/wire/wire.h"
#include "broker/egress/broker_jail.h"
#include "broker/egress/internal.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(void)
{
        static struct broker b = { .control = EGRESS_CONTROL,
                                   .epoll = -1,
                                   .spare = -1,
                                   .resolver_source = { .fd = -1 },
                                   .ledger_source = { .fd = -1 },
                                   .gate_source = { .fd = -1 },
                                   .checks_source = { .fd = -1 },
                                   .trust = -1,
                                   .record = -1 };
        struct egress_message m = { .word = EGRESS_SAYS_READY };
        if (!wire_is_end(EGRESS_CONTROL)) {
                (void) fputs("cordon: error: cordon-egress is started by cordon itself, for a box with `net` "
                             "doors\n"
                             "cordon: hint: cordon run --net example.org:443 -- COMMAND\n",
                             stderr);
                return 125;
        }

        (void) prctl(PR_SET_NAME, EGRESS_PROGRAM, 0, 0, 0);
        struct err e = { 0 };
        if (jail_memory(&e) < 0) /* credentials come before the rest of the jail */
                return 1;

        (void) signal(SIGPIPE, SIG_IGN);
        (void) signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is reported, see record_fixture.c */
        if (control_start(&b, &e) < 0) {
                m.word = EGRESS_SAYS_ERROR;
                m.error = e;
        }

        m.bundle_bytes = (uint32_t) b.bundle_bytes;
        if (wire_put(b.control, &egress_message_form, &m, b.trust) < 0 || m.word == EGRESS_SAYS_ERROR)
                return 1;

        if (b.trust >= 0)
                (void) close(b.trust);

        broker_run(&b);
}
