/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_vault.c - any bytes as the binding of a vault's entry, and as what a credential is for.
 * What is read is written and read again as the same; what is asked for is never more than its scope. */
#include "broker/vault/vault.h"

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
        free(text);
        return 0;
}
