/* SPDX-License-Identifier: MIT */
/* run/api/script_engine.c - what runs the command behind a wall without programs. */
#include "base/str.h"
#include "run/api/internal.h"

#include <stdio.h>
#include <string.h>

bool api_is_javascript(const char *command)
{
        static const char *const ends[] = { ".js", ".mjs", ".cjs" };
        size_t n = strlen(command);
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
                size_t k = strlen(ends[i]);
                if (n > k && strcmp(command + n - k, ends[i]) == 0)
                        return true;
        }

        return false;
}

int api_engine_find(const struct cordon_context *cx, const char *command, struct api_engine *ret,
                    struct err *e)
{
        ret->script[0] = ret->code[0] = '\0';
        if (host_program(cx, "cordon-wasm", ret->program, sizeof ret->program, e) < 0)
                return -1;

        if (!command || !api_is_javascript(command) ||
            host_program(cx, "quickjs.wasm", ret->script, sizeof ret->script, e) == 0)
                return 0;

        (void) err_set(e, ERR_HOST, 0,
                       "JavaScript behind the wasm wall needs quickjs.wasm, which is not installed");
        int folder = (int) str_parent(ret->program, strlen(ret->program));
        return err_hint(
                e,
                "`sh tools/deps quickjs && make install` in cordon's source directory fetches it from "
                "registry.npmjs.org (quickjs-wasi 3.6.2, into %.*s); or --wall namespace -- node %.40s",
                folder, ret->program, command);
}

bool api_interprets(const struct cordon_box *b)
{
        return b->interpret || policy_gives_up(b->policy->lines, WITHOUT_COMPILER);
}
