/* SPDX-License-Identifier: MIT */
/* face/cli/json_splice.h - positions in the text of a JSON document, to change a part and leave every other
 * byte.
 */
#pragma once
#include "base/json.h"

/* The first byte of a value of the document that `text` was parsed to. */
size_t json_splice_start(struct span text, const struct json *v);
/* The byte behind the value that starts at `at`. The text is valid JSON. */
size_t json_splice_end(struct span text, size_t at);
