/* SPDX-License-Identifier: Apache-2.0 */
/* Macros that C lacks and every part of the project needs: firmware, model, driver and test
 * bench. */
#ifndef MODEL_INTERFACE_MACROS_H
#define MODEL_INTERFACE_MACROS_H

#include <stddef.h>

/* How many elements an array has; not for pointers. */
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* The structure of that type whose member `ptr` points to. */
#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#endif
