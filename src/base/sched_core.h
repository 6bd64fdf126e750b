/* SPDX-License-Identifier: MIT */
/* base/sched_core.h - core scheduling (Linux 5.14), for headers that are older. */
#pragma once
#include <sys/prctl.h>

#ifndef PR_SCHED_CORE
#define PR_SCHED_CORE        62
#define PR_SCHED_CORE_GET    0
#define PR_SCHED_CORE_CREATE 1
#endif
