/* SPDX-License-Identifier: MIT */
/* output/encode.h - text as one inert word of another language. Pure. */
#pragma once
#include "base/buf.h"
#include "base/err.h"

/* "sh", "sql", "html", "json", "csv", "md", "url", "term"; -1: another. */
int encode_find(const char *name);
const char *encode_names(void); /* "sh, sql, ..." */
/* Appends `text` for context `to`. -1: it cannot be written there (a NUL in a shell word, bytes that are not
 * UTF-8 in SQL). */
int encode_text(int to, struct span text, struct buf *out, struct err *e);
