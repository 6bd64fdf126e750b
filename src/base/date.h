/* SPDX-License-Identifier: MIT */
/* base/date.h - dates as policies and waivers write them, in UTC. */
#pragma once
#include <stdint.h>

/* 2026-12-31 or 2026-12-31T12:00Z, in seconds since 1970. A date without a time is its first minute. */
int date_parse(const char *s, int64_t *ret_seconds);
char *date_print(int64_t seconds, char buf[32]); /* 2026-12-31T12:00Z */
char *date_stamp(int64_t seconds, char buf[32]); /* 20261231T120000Z */
