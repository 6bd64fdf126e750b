/* SPDX-License-Identifier: MIT */
/* wall/kinds/kinds.c - one row for each kind of wall. */
#include "wall/kinds/kinds.h"

enum { OWN = WALL_OWN_ROOT | WALL_OWN_NET | WALL_OWN_IDS, ALL = OWN | WALL_PROGRAMS };

static const struct wall_traits traits[] = {
        [WALL_AUTO] = { "auto", 0, ALL, true },
        [WALL_PROCESS] = { "process", 1, WALL_PROGRAMS, true },
        [WALL_NAMESPACE] = { "namespace", 2, ALL, true },
        [WALL_WASM] = { "wasm", 2, OWN, true },
        [WALL_VM] = { "vm", 3, ALL, false },
};
_Static_assert(sizeof traits / sizeof *traits == WALL_KIND__COUNT, "a row for each wall");

const struct wall_traits *wall_traits(enum wall_kind k)
{
        static const struct wall_traits unknown = { .name = "unknown" };
        return (unsigned) k < WALL_KIND__COUNT ? &traits[k] : &unknown;
}

const char *wall_name(enum wall_kind k) { return wall_traits(k)->name; }

bool wall_has(enum wall_kind k, unsigned features)
{
        return (wall_traits(k)->features & features) == features;
}

enum wall_kind wall_choice(enum wall_kind asked, unsigned i)
{
        static const enum wall_kind order[] = { WALL_NAMESPACE, WALL_PROCESS };
        if (asked != WALL_AUTO)
                return i == 0 ? asked : WALL_AUTO;

        return i < sizeof order / sizeof *order ? order[i] : WALL_AUTO;
}
