/* SPDX-License-Identifier: MIT */
/* face/cli/left_out.c - what the lists of boxes share: boxes that are left out, because their keepers refuse
 * this process. */
#include "base/json.h"
#include "face/cli/cli.h"

#include <stdio.h>

bool cli_leave_out(struct cli_left_out *l, const struct json *entry)
{
        const struct json *refused = json_get(entry, "refused");
        if (!refused)
                return false;

        l->count++;
        (void) snprintf(l->why, sizeof l->why, "%s", refused->str ? refused->str : "");
        return true;
}

void cli_note_left_out(const struct cli_left_out *l)
{
        if (l->count > 0)
                cli_note("%u %s left out: %s", l->count, l->count == 1 ? "box is" : "boxes are", l->why);
}

const char *cli_text_of(const struct json *o, const char *key)
{
        const struct json *v = json_get(o, key);
        return v && v->str ? v->str : "?";
}
