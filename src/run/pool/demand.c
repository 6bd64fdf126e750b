/* SPDX-License-Identifier: MIT */
/* run/pool/demand.c - how many boxes an automatic shelf keeps ready. Pure. */
#include "run/pool/demand.h"

unsigned demand_more(unsigned want, unsigned room) { return want + (want < room ? want : room); }

unsigned demand_less(unsigned want, unsigned spare, unsigned least)
{
        unsigned go = (spare + 1) / 2;
        return want > least + go ? want - go : want < least ? want : least;
}
