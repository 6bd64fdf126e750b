/* SPDX-License-Identifier: MIT */
/* selftest/started_by.c - the path of the cordon that started this program: the one to measure. */
#include "selftest/selftest.h"

static const char *cordon = "";

void selftest_started_by(const char *path) { cordon = path; }

const char *selftest_cordon(void) { return cordon; }
