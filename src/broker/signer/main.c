/* SPDX-License-Identifier: MIT */
/* broker/signer/main.c - cordon-signer: agents' protocols for one box. Started by the keeper with one socket
 * and nothing else; signer.h has the protocol. */
#include "base/jail.h"
#include "broker/signer/signer.h"
#include "broker/signer/signer_state.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* The box writes to this process, and the process holds connections to the agents of the user: what takes it
 * over can use those, but open no file, make no socket and start no process. */
enum { MEMORY_MAX = 64 << 20 };

static const uint32_t allowed[] = {
        SYS_read,      SYS_write,           SYS_writev,       SYS_recvmsg,        SYS_sendmsg,
        SYS_recvfrom,  SYS_sendto,          SYS_accept4,      SYS_fcntl,          SYS_ppoll,
        SYS_close,     SYS_munmap,          SYS_brk,          SYS_mremap,         SYS_madvise,
        SYS_futex,     SYS_rt_sigreturn,    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_getpid,
        SYS_gettid,    SYS_tgkill,          SYS_exit,         SYS_exit_group,     SYS_clock_gettime,
        SYS_getrandom, SYS_restart_syscall,
#ifdef SYS_poll
        SYS_poll,
#endif
};

static int signer_jail(uint32_t become, struct err *e)
{
        if (jail_enter(SIGNER_PROGRAM, become, MEMORY_MAX, e) < 0)
                return -1;
        return jail_limit(RLIMIT_NPROC, 0) < 0
                       ? jail_failed(SIGNER_PROGRAM, "limit itself", e)
                       : jail_calls(SIGNER_PROGRAM, allowed, sizeof allowed / sizeof *allowed, e);
}

static bool take_key(struct signer *s, const struct signer_order *o)
{
        if (s->key_count == SIGNER_KEYS_MAX || o->agent >= SIGNER_AGENT__COUNT)
                return false;
        struct signer_key *k = &s->keys[s->key_count++];
        *k = (struct signer_key){ .agent = o->agent, .decrypt = o->decrypt };
        memcpy(k->text, o->key, sizeof k->text);
        k->text[sizeof k->text - 1] = '\0';
        return true;
}

/* Everything up to START. */
static bool take_orders(struct signer *s, struct signer_order *o)
{
        int fd = -1;
        while (wire_take(s->control, &signer_order_form, o, &fd) == 1) {
                if (o->command == SIGNER_START)
                        return true;
                if (o->command == SIGNER_AGENT && o->agent < SIGNER_AGENT__COUNT)
                        s->agents[o->agent].fd = fd;
                else if (o->command != SIGNER_KEY || !take_key(s, o))
                        return false;
        }
        return false;
}

int main(void)
{
        static struct signer s = { .control = SIGNER_CONTROL };
        struct signer_order o;
        struct err e = { 0 };
        for (unsigned i = 0; i < SIGNER_AGENT__COUNT; i++)
                s.agents[i].fd = s.agents[i].listener = -1;

        if (!wire_is_end(SIGNER_CONTROL)) {
                (void) fputs(
                        "cordon: error: cordon-signer is started by cordon itself, for a box with `sign` "
                        "doors\n"
                        "cordon: hint: cordon run --sign ssh:COMMENT -- COMMAND\n",
                        stderr);
                return 125;
        }

        (void) prctl(PR_SET_NAME, SIGNER_PROGRAM, 0, 0, 0);
        (void) signal(SIGPIPE, SIG_IGN);
        if (!take_orders(&s, &o) || signer_jail(o.become, &e) < 0)
                return 1;

        struct signer_message m;
        keys_bind(&s, &m);
        if (wire_put(s.control, &signer_message_form, &m, -1) < 0 || m.word != SIGNER_SAYS_READY)
                return 1;

        signer_run(&s);
        return 0;
}
