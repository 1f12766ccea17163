/* SPDX-License-Identifier: Apache-2.0 */
/* Objects and their contexts in ICM; queue buffers and their MTT entries. */
#ifndef FW_OBJECTS_H
#define FW_OBJECTS_H

#include "fw/fw.h"

/* Says whether a number is in the table. Numbers of QPs and MPTs have bits above the index. */
bool object_in_table(unsigned table, uint32_t number);
bool object_valid(unsigned table, uint32_t number);
/* Executes a FW_OBJ_* command; returns its status. */
uint32_t object_do(unsigned table, uint32_t number, uint32_t command);
/* ICM address of an entry; the number counts modulo the size of the table. */
uint64_t object_address(unsigned table, uint32_t number);
/* HCR_STATUS_OK, or HCR_STATUS_ICM_ERROR if the ICM is not mapped. */
enum hcr_status object_read(unsigned table, uint32_t number, void *context, uint32_t size);
enum hcr_status object_write(unsigned table, uint32_t number, const void *context, uint32_t size);
/* Reads the current context while the object goes on working: QUERY_*. */
enum hcr_status object_query(unsigned table, uint32_t number, void *context, uint32_t size);
/* Stops an object and reads its context. object_resume() must follow, also after a failure. */
enum hcr_status object_stop(unsigned table, uint32_t number, void *context, uint32_t size);
void object_resume(unsigned table, uint32_t number);
/* Writes the first context of an object and makes it valid. */
enum hcr_status object_make(unsigned table, uint32_t number, const void *context, uint32_t size);
/* HW2SW_*: ends an object, and copies its last context to @context if @want is set. Never fails. */
void object_end(unsigned table, uint32_t number, void *context, uint32_t size, bool want);

/* The buffer of a queue, as the context describes it. */
struct fw_buffer {
	uint64_t mtt_addr;
	uint32_t log_page; /* log2 bytes */
	uint32_t offset;   /* of the queue in the first page */
};

/* Bus address of a byte of the queue. *left: bytes up to the end of its page. */
enum hcr_status buffer_address(const struct fw_buffer *b, uint32_t at, uint64_t *bus,
			       uint32_t *left);
/* Fills bytes [at, at + len) of the queue. */
enum hcr_status buffer_fill(const struct fw_buffer *b, uint32_t at, uint32_t len, uint8_t byte);

#endif
