/* SPDX-License-Identifier: MIT */
/* wall/linux/spare.h - what travels between the keeper (spare_line.c) and a spare (spare.c), over a
 * SOCK_SEQPACKET pair: of a session first a head with the
 * control group of the run and no order; then struct spare_head with the descriptors and the beginning of the
 * sealed run order, then the rest of it in as many packets as that takes. */
#pragma once
#include "base/limits.h"

#include <stdint.h>

enum {
        SPARE_FORMAT = 1,
        SPARE_WARM_LINES = 2, /* descriptors of a warm spare behind its handles: its socket, and to init */
        SPARE_PASSED_MAX = 3 + HANDLES_MAX,
        SPARE_PACKET = 32 * 1024,
        SPARE_ORDER_MAX = 8 << 20 /* more than execve() takes */
};

struct spare_head {
        uint32_t format;
        uint32_t bytes;               /* of the order */
        uint32_t count;               /* of descriptors */
        uint8_t to[SPARE_PASSED_MAX]; /* the number that each gets */
};
