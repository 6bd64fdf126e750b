/* SPDX-License-Identifier: MIT */
/* output/output.h - what leaves a box, and what enters one: the neutralizer for terminals, schemas, and the
 * process that runs all stages. */
#pragma once
#include "output/encode.h"
#include "output/neutral.h"
#include "output/output_envelope.h"
#include "output/process.h"
#include "output/schema.h"
