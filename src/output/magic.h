/* SPDX-License-Identifier: MIT */
/* output/magic.h - the type of binary data by its bytes, never by its name. Pure. */
#pragma once
#include "output/findings.h"

enum magic {
        MAGIC_UNKNOWN = 0,
        MAGIC_PNG,
        MAGIC_JPEG,
        MAGIC_GIF,
        MAGIC_WEBP,
        MAGIC_BMP,
        MAGIC_TIFF,
        MAGIC_PDF,
        MAGIC_ZIP,
        MAGIC_GZIP,
        MAGIC__COUNT
};
const char *magic_name(enum magic m);
enum magic magic_of(struct span data);
bool magic_is_image(enum magic m);
/* Is it whole, without bytes behind its end (where a second file could hide), and not a bomb (pixels,
 * unpacked size)? NULL: yes; else why not, one clause. Notes content that runs when the file is opened. */
const char *magic_fault(enum magic m, struct span data, struct findings *f);
