/* SPDX-License-Identifier: MIT */
/* base/moving.h - the temporary name of a directory of an edit door while it is copied for a rename. The
 * wall makes it; the scan of the overlay's changes skips one that was left behind. */
#pragma once

#define MOVING_PREFIX ".cordon-moving."
