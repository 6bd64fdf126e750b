/* SPDX-License-Identifier: MIT */
/* policy/read/key_lines.c - `sign` and `decrypt`: one key of an agent of the caller. `dev`: one device,
 * and `gpu`. */
#include "policy/internal.h"

enum { KEYGRIP_HEX = 40, FINGERPRINT_BASE64 = 43 };

static bool is_fingerprint(const char *key)
{
        static const char mark[] = "SHA256:";
        const char *text = key + strlen(mark);
        return strncmp(key, mark, strlen(mark)) == 0 && strlen(text) == FINGERPRINT_BASE64 &&
               strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") ==
                       FINGERPRINT_BASE64;
}

/* A comment is any text; one that begins as a fingerprint must be one. */
static bool is_ssh_key(const char *key)
{
        return key[0] && (strncmp(key, "SHA256:", 7) != 0 || is_fingerprint(key));
}

static bool is_keygrip(const char *key)
{
        return strlen(key) == KEYGRIP_HEX && strspn(key, "0123456789ABCDEF") == KEYGRIP_HEX;
}

static const struct {
        const char *mark;
        bool signs_only;
        bool (*is_key)(const char *key);
        const char *hint;
} agents[] = {
        { "ssh:", true, is_ssh_key,
          "use `sign ssh:` and the comment or the fingerprint, SHA256:..., of one key: `ssh-add -l` lists "
          "them" },
        { "gpg:", false, is_keygrip,
          "use `gpg:` and the keygrip of one key, 40 hex digits in capitals: `gpg -K --with-keygrip` lists "
          "them" },
};

static int check_key(struct reader *r, const struct token *t, enum door_kind kind)
{
        for (size_t i = 0; i < COUNT(agents); i++) {
                size_t n = strlen(agents[i].mark);
                if (strncmp(t->text, agents[i].mark, n) != 0)
                        continue;
                if (kind == DOOR_DECRYPT && agents[i].signs_only)
                        return fail_at(r->e, &t->at, "ssh-agent cannot decrypt");
                if (agents[i].is_key(t->text + n))
                        return 0;
                (void) fail_at(r->e, &t->at, "invalid key \"%s\"", show_text(t->text).text);
                return err_hint(r->e, "%s", agents[i].hint);
        }

        (void) fail_at(r->e, &t->at, "invalid agent and key \"%s\"", show_text(t->text).text);
        return err_hint(r->e, "%s", agents[kind == DOOR_DECRYPT].hint);
}

static int read_key(struct reader *r, enum door_kind kind)
{
        const struct token *t = reader_need(r, "the agent and the key");
        struct door *d = t ? reader_door(r, kind, t) : NULL;
        if (!d || check_key(r, t, kind) < 0)
                return -1;

        d->name = arena_str(&r->p->mem, t->text);
        if (!d->name)
                return fail_memory(r->e);

        if (r->i < r->n && token_is(&r->tok[r->i], "max")) {
                (void) reader_next(r);
                return door_read_max(r, d);
        }

        return 0;
}

int line_sign(struct reader *r) { return read_key(r, DOOR_SIGN); }
int line_decrypt(struct reader *r) { return read_key(r, DOOR_DECRYPT); }

int line_dev(struct reader *r)
{
        const struct token *t = reader_need(r, "the device");
        for (; t; t = reader_next(r)) {
                struct door *d = reader_door(r, DOOR_DEV, t);
                if (!d || path_token(t, &r->p->mem, &d->path, &d->optional, r->e) < 0)
                        return -1;
                if (!policy_device(d->path)) {
                        (void) fail_at(r->e, &t->at, "%s cannot be opened to a box: %s",
                                       show_text(t->text).text, policy_device_refused(d->path));
                        return err_hint(r->e,
                                        "a `dev` door opens /dev/kvm, /dev/fuse, /dev/dri/renderD128 and the "
                                        "like, or a GPU's /dev/nvidia0: `man cordon.policy` lists them");
                }
        }

        return r->n > 1 ? 0 : -1;
}

static int read_gpu(struct reader *r, const struct token *t)
{
        struct token none = { .at = r->at };
        struct door *d = reader_door(r, DOOR_DEV, t ? t : &none);
        if (!d)
                return -1;

        bool all = !t || strcmp(t->text, "all") == 0;
        d->path = arena_printf(&r->p->mem, all ? "/dev/gpu" : "/dev/gpu/%s", all ? "" : t->text);
        if (!d->path)
                return fail_memory(r->e);

        if (policy_gpu(d->path))
                return 0;

        (void) fail_at(r->e, &t->at, "\"%s\" is not a GPU's number or UUID", show_text(t->text).text);
        return err_hint(r->e,
                        "use `gpu` for all of yours, `gpu 0`, or `gpu GPU-...` as `nvidia-smi -L` has it");
}

int line_gpu(struct reader *r)
{
        const struct token *t = reader_next(r);
        do {
                if (read_gpu(r, t) < 0)
                        return -1;
        } while (t && (t = reader_next(r)));

        return 0;
}
