/* SPDX-License-Identifier: MIT */
/* run/api/unpacker.h - one call of cordon-unpack, in a box. */
#pragma once
#include "base/buf.h"
#include "base/context/context.h"
#include "base/err.h"

struct unpacker {
        const char *command; /* "describe", "inflate" or "layers" */
        const char *read;    /* the image: a file or a directory, absolute */
        const char *write;   /* the directory that it may write, or NULL */
        const char *input;   /* for its standard input, or NULL */
};
/* Appends what it printed. Returns -1 with its own reason in *e if it refused the image. */
int api_unpack(const struct cordon_context *cx, const struct unpacker *u, struct buf *out, struct err *e);
