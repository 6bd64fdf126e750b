/* SPDX-License-Identifier: MIT */
/* run/api/image_parts.h - configuration and layers of an image that is being added. */
#pragma once
#include "base/buf.h"
#include "base/err.h"

enum {
        IMAGE_TAGS_MAX = 16,
        IMAGE_PARTS_MAX = 128,     /* the configuration, and the layers */
        IMAGE_CONFIG_MAX = 4 << 20 /* bytes of the configuration */
};

struct json_doc;
struct image_part {
        char file[256]; /* below a layout; "": in the archive */
        uint64_t offset, size;
        char stated[65]; /* "": its manifest states none */
        char packed[65]; /* of the bytes as they are, computed here */
        char plain[65];  /* of a layer: decompressed, as the configuration states it */
        char form[8];
};
struct image_parts_list {
        struct image_part v[IMAGE_PARTS_MAX]; /* the configuration first */
        size_t n;
        char tags[IMAGE_TAGS_MAX][256]; /* NAME:TAG, which the archive claims */
        size_t tag_count;
        char user[128], cwd[4096]; /* of the configuration; "": none */
};
int image_parts_read(struct span text, struct image_parts_list *ret, struct err *e);
/* Computes each part's digest, compares it with the stated one, and makes the key. */
int image_parts_key(const char *image, struct image_parts_list *l, char ret_key[65], struct err *e);
/* Then: the configuration itself, whose bytes have the digest of the key. The caller frees; NULL with *e set.
 */
struct json_doc *image_parts_config(const char *image, struct image_parts_list *l, struct err *e);
/* The lines that cordon-unpack takes. */
void image_parts_lines(const struct image_parts_list *l, struct buf *out);
