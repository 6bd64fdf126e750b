/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_vault.c - any bytes as the binding of a vault's entry, and as what a credential is for.
 * What is read is written and read again as the same; what is asked for is never more than its scope, and the
 * vault's small reader decides this as the whole language does. */
#include "broker/vault/vault.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void as_binding(struct span bytes)
{
        static struct vault_meta m, again;
        struct err e = { 0 };
        AUTO_BUF(line);
        if (vault_meta_parse(bytes, &m, &e) < 0)
                return;
        vault_meta_print(&m, &line);
        if (line.failed || vault_meta_parse(buf_span(&line), &again, &e) < 0 ||
            memcmp(&m, &again, sizeof m) != 0)
                abort();
}

static void as_scope(const char *lines)
{
        static const char else_[] = "https://elsewhere.example/** DELETE\n";
        char scope[GRANT_SCOPE], again[GRANT_SCOPE], more[GRANT_SCOPE + sizeof else_];
        struct err e = { 0 };
        if (vault_scope_read(lines, scope, &e) < 0) {
                if (e.code == ERR_NONE || !e.what[0])
                        abort();
                return;
        }
        if (vault_scope_read(scope, again, &e) < 0 || strcmp(scope, again) != 0)
                abort();
        if (vault_scope_judge("n", scope, scope, &e) < 0)
                abort();
        memcpy(more, scope, strlen(scope));
        memcpy(more + strlen(scope), else_, sizeof else_);
        if (!strstr(scope, "elsewhere.example") && !strstr(scope, "*.example") &&
            vault_scope_judge("n", scope, more, &e) == 0)
                abort();
}

static struct checked_policy *doors_of(const char *lines)
{
        static const struct policy_context nowhere = { .work = "/", .home = "/" };
        struct err e = { 0 };
        AUTO_BUF(text);
        buf_puts(&text, "use none\n");
        for (const char *p = lines; *p;) {
                size_t n = strcspn(p, "\n");
                buf_printf(&text, "net %.*s\n", (int) n, p);
                p += n + (p[n] == '\n');
        }
        struct policy *p = text.failed ? NULL : policy_new();
        struct checked_policy *c = p && policy_add_text(p, "for", buf_span(&text), &e) == 0
                                           ? policy_check(p, &nowhere, &e)
                                           : NULL;
        policy_free(p);
        return c;
}

/* The first line is the scope, the others are asked for. */
static void as_two(const char *lines)
{
        char scope[GRANT_SCOPE], asked[GRANT_SCOPE], first[GRANT_SCOPE];
        struct err e = { 0 };
        size_t n = strcspn(lines, "\n");
        if (n >= sizeof first || !lines[n])
                return;
        memcpy(first, lines, n);
        first[n] = '\0';
        if (vault_scope_read(first, scope, &e) < 0 || vault_scope_read(lines + n + 1, asked, &e) < 0)
                return;

        AUTO_BUF(difference);
        struct checked_policy *may = doors_of(scope), *wants = doors_of(asked);
        enum policy_order order = may && wants ? policy_diff(may, wants, &difference) : POLICY_CROSSING;
        if (!may || !wants ||
            (vault_scope_judge("n", scope, asked, &e) == 0) !=
                    (order == POLICY_EQUAL || order == POLICY_NARROWER))
                abort();
        policy_checked_free(may);
        policy_checked_free(wants);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        as_binding(span_of(data, size));
        char *text = malloc(size + 1);
        if (!text)
                return 0;
        if (size)
                memcpy(text, data, size);
        text[size] = '\0';
        as_scope(text);
        as_two(text);
        free(text);
        return 0;
}
