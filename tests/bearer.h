/* SPDX-License-Identifier: MIT */
/* tests/bearer.h - the credential of tests and fuzz targets: a key behind "Bearer". Both texts are literals.
 */
#pragma once
#include "broker/egress/http/http.h"

#define BEARER_KEY(real, held)                                                                               \
        {                                                                                                    \
                .name = "key", .where = GRANT_HEADER, .field = "Authorization", .before = "Bearer ",         \
                .after = "", .secret = { (const uint8_t *) (real), sizeof(real) - 1 }, .placeholder = {      \
                        (const uint8_t *) (held),                                                            \
                        sizeof(held) - 1                                                                     \
                }                                                                                            \
        }
