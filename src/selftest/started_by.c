/* SPDX-License-Identifier: MIT */
/* selftest/started_by.c - the path of the cordon that started this program: the one to measure. */
#include "selftest/selftest.h"

static const char *cordon = "";

void selftest_started_by(const char *path) { cordon = path; }

const char *selftest_cordon(void) { return cordon; }

bool selftest_refuses_image(cordon_policy *p)
{
        cordon_error e = { 0 };
        if (!cordon_policy_root(p, &e))
                return false; /* no image; or a policy that does not load, which the start reports */

        (void) cli_usage(
                "the attempts are a program of this host, and an image has none of those: attack the "
                "same doors without it");
        return true;
}
