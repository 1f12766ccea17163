/* SPDX-License-Identifier: Apache-2.0 */
/* Which objects still use one that software takes back. Looks without taking time. */
#ifndef MODEL_ENGINE_OBJECT_USERS_H
#define MODEL_ENGINE_OBJECT_USERS_H

#include <stdint.h>

struct hca;

/* Guest error object_in_use if a valid object uses this one; type: FW_TABLE_. */
void object_users_tell(struct hca *hca, unsigned type, uint32_t number);

#endif
