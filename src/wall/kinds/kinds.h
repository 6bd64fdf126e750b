/* SPDX-License-Identifier: MIT */
/* wall/kinds/kinds.h - the kinds of walls and the features of each. Pure tables, below every decider: code
 * outside wall/ queries a feature and names no kind. */
#pragma once
#include <stdbool.h>

enum wall_kind { WALL_AUTO = 0, WALL_PROCESS, WALL_NAMESPACE, WALL_WASM, WALL_VM, WALL_KIND__COUNT };

enum wall_feature {
        WALL_OWN_ROOT = 1 << 0, /* a file tree of its own: a path without a door does not exist; private /tmp,
                                 * home and /proc; edit doors */
        WALL_OWN_NET = 1 << 1,  /* a network of its own: loopback, terminals and sockets are the box's */
        WALL_OWN_IDS = 1 << 2,  /* own user ids */
        WALL_PROGRAMS =
                1 << 3, /* starts programs of the host; else the command is a module for cordon-wasm */
};

struct wall_traits {
        const char *name;
        unsigned strength; /* of two walls with the same number neither is stronger */
        unsigned features; /* enum wall_feature */
        bool built;        /* in this version */
};

const struct wall_traits *wall_traits(enum wall_kind k);
const char *wall_name(enum wall_kind k);
/* Has it all of these features? WALL_AUTO has those of the wall that it tries first. */
bool wall_has(enum wall_kind k, unsigned features);
/* The wall to try as number `i`, from 0, if `asked` is requested; 0: no more. Only `auto` has a second one.
 */
enum wall_kind wall_choice(enum wall_kind asked, unsigned i);
