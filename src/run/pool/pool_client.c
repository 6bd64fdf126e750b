/* SPDX-License-Identifier: MIT */
/* run/pool/pool_client.c - questions to the resident, each one packet and its answer one packet. */
#include "base/fd.h"
#include "base/store/store.h"
#include "run/pool/pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

int pool_send(int fd, const struct pool_message *m, const void *payload)
{
        struct pool_message head = *m;
        struct iovec out[] = { { &head, sizeof head }, { (void *) (uintptr_t) payload, m->bytes } };
        struct msghdr h = { .msg_iov = out, .msg_iovlen = m->bytes ? 2 : 1 };
        head.magic = POOL_MAGIC;
        return sendmsg(fd, &h, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

ssize_t pool_receive(int fd, void *packet, size_t cap, int *ret_passed)
{
        union {
                struct cmsghdr head;
                char room[CMSG_SPACE(sizeof(int))];
        } control;
        struct iovec in = { packet, cap };
        struct msghdr h = { .msg_iov = &in,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = CMSG_LEN(sizeof(int)) }; /* room for one */
        ssize_t n = recvmsg(fd, &h, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
        const struct cmsghdr *c = n >= 0 ? CMSG_FIRSTHDR(&h) : NULL;
        *ret_passed = -1;
        if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
            c->cmsg_len == CMSG_LEN(sizeof(int)))
                memcpy(ret_passed, CMSG_DATA(c), sizeof *ret_passed);
        return n;
}

/* Where the run's ledger is, if it has one. */
static void name_ledger(const struct box_config *c, char ret[STORE_PATH_MAX])
{
        struct err e;
        if (c->ledger == BOX_LEDGER_OFF || store_path(c->cx, ret, &e) < 0)
                ret[0] = '\0';
}

/* None was given. */
static void say_why(int fd, const struct pool_message *asked, const struct pool_message *answer, char *why,
                    size_t cap)
{
        struct pool_message m = { .word = POOL_STATE };
        struct err e = { 0 };
        memcpy(m.key, asked->key, POOL_KEY);
        bool asks = (answer->word == POOL_NONE && answer->arg == 2) || answer->word == POOL_REFUSED;
        char *state = asks ? pool_ask(fd, &m, NULL, &e) : NULL;
        if (e.code == ERR_USAGE && answer->word == POOL_REFUSED)
                (void) snprintf(why, cap, "%s", e.what);
        else if (e.code == ERR_USAGE)
                (void) snprintf(why, cap, "parking a box failed: %s", e.what);
        else
                (void) snprintf(why, cap, "%s",
                                answer->word == POOL_GIVEN ? "cordon serve is of another version"
                                : answer->arg ? "the parked boxes of this plan are in use, or not ready yet"
                                              : POOL_NO_SHELF);
        free(state);
}

struct box *pool_take(int *fd, const struct pool_message *take, const struct box_config *c, bool *ret_wanted,
                      char *why, size_t cap)
{
        struct pool_message m = *take, answer = { .word = 0 };
        struct box *box = NULL;
        struct err e;
        char state[STORE_PATH_MAX];
        name_ledger(c, state);
        m.word = POOL_TAKE;
        m.bytes = (uint32_t) strlen(state);
        *ret_wanted = false;
        if (pool_send(*fd, &m, state) < 0 || box_receive(*fd, &answer, sizeof answer, c, &box, &e) < 0 ||
            answer.magic != POOL_MAGIC) {
                box_free(box);
                (void) snprintf(why, cap, "cordon serve does not answer");
                return NULL;
        }

        *ret_wanted = answer.word == POOL_WANTED;
        if (box && answer.arg) {
                const struct pool_message seal = { .magic = POOL_MAGIC, .word = POOL_SEAL };
                box_wake_by(box, fd, &seal, sizeof seal);
        }

        if (!box)
                say_why(*fd, &m, &answer, why, cap);
        return box;
}

static struct err no_answer(int sys)
{
        struct err e;
        (void) err_set(&e, ERR_IO, sys, "cordon serve does not answer: %s", strerror(sys));
        return e;
}

char *pool_ask(int fd, const struct pool_message *m, const void *payload, struct err *e)
{
        char *text = calloc(1, POOL_MESSAGE_MAX + 1);
        struct pool_message answer = { .word = 0 };
        struct iovec in[] = { { &answer, sizeof answer }, { text, POOL_MESSAGE_MAX } };
        struct msghdr h = { .msg_iov = in, .msg_iovlen = 2 };
        if (!text) {
                (void) err_set(e, ERR_MEMORY, 0, "no memory for the answer");
                return NULL;
        }

        ssize_t n = pool_send(fd, m, payload) < 0 ? -1 : recvmsg(fd, &h, 0);
        if (n >= (ssize_t) sizeof answer && answer.magic == POOL_MAGIC && answer.word == POOL_TEXT)
                return text;

        if (n >= (ssize_t) sizeof answer && answer.word == POOL_REFUSED)
                (void) err_set(e, ERR_USAGE, 0, "%.300s", text);
        else
                *e = no_answer(n < 0 ? errno : EPROTO);
        free(text);
        return NULL;
}
