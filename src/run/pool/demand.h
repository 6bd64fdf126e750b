/* SPDX-License-Identifier: MIT */
/* run/pool/demand.h - how many boxes an automatic shelf keeps ready. Pure. */
#pragma once

/* After a run that found none: twice as many, of the `room` that is left. */
unsigned demand_more(unsigned want, unsigned room);
/* After a while in which `spare` of them were never taken: half of those go, and `least` stay. */
unsigned demand_less(unsigned want, unsigned spare, unsigned least);
