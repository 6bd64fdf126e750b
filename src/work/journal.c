/* SPDX-License-Identifier: MIT */
#include "work/internal.h"
int journal_recover(struct layer *l, struct err *e)
{
        (void) l;
        (void) e;
        return 0;
}
