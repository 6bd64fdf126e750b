/* SPDX-License-Identifier: MIT */
/* base/moving.h - the name under which a directory of an edit door is put together while it is moved: the
 * wall makes it, and a look at the overlay's changes passes over one that was left behind. */
#pragma once

#define MOVING_PREFIX ".cordon-moving."
