/* SPDX-License-Identifier: MIT */
/* broker/signer/keys.c - which keys the doors name, and whether the agents have them. */
#include "base/fd.h"
#include "broker/signer/signer_state.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_MS = 5000 };

const struct known_key *keys_known(const struct signer *s, const char *print)
{
        for (unsigned i = 0; i < s->known_count; i++)
                if (strcmp(s->known[i].print, print) == 0)
                        return &s->known[i];
        return NULL;
}

/* A comment is any text, so it is compared with no fingerprint. */
static bool names_ssh(const struct signer_key *k, const char *print, struct span comment)
{
        bool by_print = strncmp(k->text, "SHA256:", 7) == 0;
        return k->agent == SIGNER_SSH && !k->decrypt &&
               (by_print ? strcmp(k->text, print) == 0 : span_is(comment, k->text));
}

static void note_known(struct signer *s, const char *print, struct span comment)
{
        if (keys_known(s, print) || s->known_count == sizeof s->known / sizeof *s->known)
                return;
        struct known_key *k = &s->known[s->known_count++];
        (void) snprintf(k->print, sizeof k->print, "%s", print);
        (void) snprintf(k->comment, sizeof k->comment, "%.*s", (int) comment.n, (const char *) comment.p);
}

bool keys_permit_ssh(void *ctx, struct span key, struct span comment)
{
        struct signer *s = ctx;
        char print[SSH_FINGERPRINT];
        ssh_fingerprint(key, print);
        if (comment.n >= SIGNER_KEY_TEXT)
                comment.n = 0;

        for (unsigned i = 0; i < s->key_count; i++)
                if (names_ssh(&s->keys[i], print, comment)) {
                        note_known(s, print, comment);
                        return true;
                }
        return false;
}

bool keys_permit_gpg(void *ctx, const char *grip, bool decrypt)
{
        const struct signer *s = ctx;
        for (unsigned i = 0; i < s->key_count; i++)
                if (s->keys[i].agent == SIGNER_GPG && s->keys[i].decrypt == decrypt &&
                    strcmp(s->keys[i].text, grip) == 0)
                        return true;
        return false;
}

const char *keys_gpg_at(void *ctx, size_t at)
{
        const struct signer *s = ctx;
        for (unsigned i = 0; i < s->key_count; i++)
                if (s->keys[i].agent == SIGNER_GPG && at-- == 0)
                        return s->keys[i].text;
        return NULL;
}

/* ---- before the box starts ---- */

/* More bytes of the agent. */
static bool hear_agent(struct agent *a)
{
        char part[4096];
        struct pollfd p = { .fd = a->fd, .events = POLLIN };
        ssize_t n = poll(&p, 1, PATIENCE_MS) == 1 ? read(a->fd, part, sizeof part) : -1;
        if (n <= 0 || a->in.n > SSH_MESSAGE_MAX)
                return false;
        buf_add(&a->in, part, (size_t) n);
        return !a->in.failed;
}

static void look_at_ssh(struct signer *s, struct agent *a)
{
        AUTO_BUF(out);
        ssh_put_list_request(&out);
        bool good = !out.failed && fd_write_all(a->fd, out.p, out.n) == 0;
        ptrdiff_t n = 0;
        while (good && (n = ssh_message_length(buf_span(&a->in))) == 0)
                good = hear_agent(a);

        AUTO_BUF(ignored);
        if (good && n > 4)
                (void) ssh_filter_list(span_of(a->in.p + 4, (size_t) n - 4), keys_permit_ssh, s, &ignored);
        a->in.n = 0;
}

/* Is the next line that is no comment an OK? */
static bool says_ok(struct agent *a)
{
        const char *end;
        while (!(end = a->in.n ? memchr(a->in.p, '\n', a->in.n) : NULL))
                if (!hear_agent(a))
                        return false;

        bool ok = strncmp(a->in.p, "OK", 2) == 0;
        size_t n = (size_t) (end + 1 - a->in.p);
        memmove(a->in.p, a->in.p + n, a->in.n - n);
        a->in.n -= n;
        return ok;
}

static bool has_grip(struct agent *a, const char *grip)
{
        char line[80];
        int n = snprintf(line, sizeof line, "HAVEKEY %s\n", grip);
        return fd_write_all(a->fd, line, (size_t) n) == 0 && says_ok(a);
}

/* The fingerprints of the keys that a door names, until `out` is full. Returns how many keys. */
static unsigned prints_of(const struct signer *s, const struct signer_key *k, char *out, size_t cap)
{
        unsigned count = 0;
        size_t n = 0;
        for (unsigned i = 0; i < s->known_count; i++) {
                const struct known_key *x = &s->known[i];
                if (!names_ssh(k, x->print, span_str(x->comment)))
                        continue;
                count++;
                if (n + strlen(x->print) + 2 < cap)
                        n += (size_t) snprintf(out + n, cap - n, "%s%s", n ? " " : "", x->print);
        }
        return count;
}

static enum signer_word bind_ssh(const struct signer *s, struct signer_key *k, char *prints, size_t cap)
{
        unsigned count = prints_of(s, k, prints, cap);
        if (count == 1)
                (void) snprintf(k->text, sizeof k->text, "%.*s", SSH_FINGERPRINT, prints);
        return count == 0 ? SIGNER_SAYS_MISSING : count == 1 ? SIGNER_SAYS_READY : SIGNER_SAYS_SEVERAL;
}

void keys_bind(struct signer *s, struct signer_message *ret)
{
        struct agent *gpg = &s->agents[SIGNER_GPG];
        if (s->agents[SIGNER_SSH].fd >= 0)
                look_at_ssh(s, &s->agents[SIGNER_SSH]);
        if (gpg->fd >= 0)
                (void) says_ok(gpg); /* its greeting */

        *ret = (struct signer_message){ .word = SIGNER_SAYS_READY };
        for (unsigned i = 0; i < s->key_count && ret->word == SIGNER_SAYS_READY; i++) {
                struct signer_key *k = &s->keys[i];
                memcpy(ret->key, k->text, sizeof ret->key);
                ret->agent = k->agent;
                ret->word = k->agent == SIGNER_SSH   ? bind_ssh(s, k, ret->what, sizeof ret->what)
                            : has_grip(gpg, k->text) ? SIGNER_SAYS_READY
                                                     : SIGNER_SAYS_MISSING;
        }
}
