/* SPDX-License-Identifier: MIT */
/* base/sanitized.h - SANITIZED is 1 in builds with AddressSanitizer, as gcc and clang each report it. */
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif
