/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_signer.c - requests to an ssh-agent and lines to a gpg-agent on any bytes: nothing but a
 * list or a signature is ever passed on, no line signs with a key that no door names, what a person is shown
 * is one inert line, and a list keeps permitted keys alone. */
#include "base/str.h"
#include "broker/signer/assuan.h"
#include "broker/signer/ssh_agent.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char grip[] = "0123456789ABCDEF0123456789ABCDEF01234567";

static bool odd_keys(void *ctx, struct span key, struct span comment)
{
        (void) ctx;
        (void) comment;
        return key.n % 2;
}

static bool permitted(void *ctx, const char *key, bool decrypt)
{
        (void) ctx;
        return !decrypt && strcmp(key, grip) == 0;
}

static const char *key_at(void *ctx, size_t i)
{
        (void) ctx;
        return i == 0 ? grip : NULL;
}

static void fuzz_ssh(struct span in)
{
        struct ssh_sign q;
        const char *what = NULL;
        enum ssh_request r = ssh_request_read(in, &q, &what);
        if (r == SSH_SIGN && (in.p[0] != 13 || q.key.n + q.data.n + 13 != in.n))
                abort();
        if (r == SSH_DENIED && !what)
                abort();

        AUTO_BUF(purpose);
        ssh_purpose(in, &purpose);
        for (size_t i = 0; i < purpose.n; i++)
                if ((uint8_t) purpose.p[i] < 32)
                        abort();

        AUTO_BUF(list);
        int n = ssh_filter_list(in, odd_keys, NULL, &list);
        ptrdiff_t length = ssh_message_length(buf_span(&list));
        if (n >= 0 && (length < 0 || (size_t) length != list.n || list.n > in.n + 4))
                abort();
        (void) ssh_message_length(in);
        (void) ssh_is_signature(in);
}

static void fuzz_gpg(struct span in)
{
        const struct assuan_keys keys = { permitted, key_at, NULL };
        struct assuan_client c = { 0 };
        while (in.n) {
                AUTO_BUF(out);
                const char *what = NULL;
                const uint8_t *end = memchr(in.p, '\n', in.n);
                size_t n = end ? (size_t) (end - in.p) : in.n;
                enum assuan_request r = assuan_read(&c, span_of(in.p, n), &keys, &out, &what);
                if (r == ASSUAN_DECRYPT ||
                    (r == ASSUAN_SIGN && (strcmp(c.key, grip) != 0 || strlen(c.hash) < 40)))
                        abort();
                if (r == ASSUAN_DENIED && !what)
                        abort();
                if (out.n && out.p[out.n - 1] != '\n')
                        abort();
                in = span_of(in.p + n + (end != NULL), in.n - n - (end != NULL));
        }
        assuan_client_done(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size == 0)
                return 0;
        struct span in = span_of(data + 1, size - 1);
        if (data[0] == 's')
                fuzz_ssh(in);
        else
                fuzz_gpg(in);
        return 0;
}
