/* SPDX-License-Identifier: MIT */
/* output/category.h - Unicode's general categories, for \p{...} in regular expressions. */
#pragma once
#include "base/span.h"

/* Bits, in the order of the names in category.c. */
uint32_t category_of(uint32_t c);
/* "L", "Lu", "Letter", "Uppercase_Letter", "Any". Returns the bits, 0 if it is unknown. */
uint32_t category_find(struct span name);
