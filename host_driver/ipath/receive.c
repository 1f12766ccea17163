// SPDX-License-Identifier: Apache-2.0
/* The receive context of the kernel: the header queue, and the eager buffers that payloads go to. */
#include "host_driver/ipath/ipath.h"
#include "host_driver/mlx4/barriers.h"
#include "model/interface/bth_ops.h"

#include <errno.h>

enum {
	DWORD = 4,
	QUEUE_DWORDS = IPATH_ENTRIES * IPATH_ENTRY_DWORDS,
	QUEUE_BYTES = QUEUE_DWORDS * DWORD,
	LENGTH_MASK = 0x7ff,
	EAGER_MASK = 0xfff,
	EAGER_4K = 2,
	KD_QP = 0x656b78, /* QIB_KD_QP: the QPN of the vendor's own protocol */
	KD_HEADER = 9,
};

static uint64_t user(enum ipath_user name)
{
	return IPATH_USER + (uint64_t)name * 8;
}

/* The chip is little-endian, and so is every host that runs this. */
static uint32_t load32(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

/* Headers as far as the chip has put them into the entry. */
static uint32_t header_bytes(const uint8_t *header)
{
	const bool grh = lrh_get_lnh((const struct lrh *)header) == LNH_IBA_GLOBAL;
	const struct bth *bth = (const struct bth *)(header + LRH_BYTES + (grh ? GRH_BYTES : 0));

	return bth_op_header_bytes(bth_op_find((uint8_t)bth_get_opcode(bth)), grh);
}

static void entry_take(struct ipath_device *d, const uint8_t *entry, uint32_t *eager, bool *used)
{
	const uint8_t *header = entry + IPATH_RHF_BYTES;
	const uint32_t flags = load32(entry + DWORD);
	const uint32_t bytes = (load32(entry) & LENGTH_MASK) * DWORD - ICRC_BYTES;
	uint32_t headers;

	/* the payload of a packet that is not looked at further may be in it, too */
	*eager = load32(entry) >> IPATH_RHF_EAGER_SHIFT & EAGER_MASK;
	*used = true;
	if (flags & (IPATH_RHF_ICRC | IPATH_RHF_VCRC | IPATH_RHF_LENGTH))
		return; /* the chip has counted it */
	ipath_cast_count(d, header, true);
	headers = header_bytes(header);
	if (bytes < headers)
		return;
	*used = bytes > headers;
	rvt_receive(d->rvt, 1, header, headers, *used ? d->eager[*eager] : NULL, bytes - headers);
}

void ipath_receive_all(struct ipath_device *d)
{
	uint32_t tail = load32(d->tail_page);

	while (d->head != tail) {
		uint32_t eager = 0;
		bool used = false;

		drv_owner_before_entry();
		entry_take(d, d->queue + (size_t)d->head * DWORD, &eager, &used);
		if (used)
			ipath_write(d, user(IPATH_USER_EGR_HEAD), eager);
		d->head = (d->head + IPATH_ENTRY_DWORDS) % QUEUE_DWORDS;
		tail = load32(d->tail_page);
		/* the last one asks for the next interrupt */
		ipath_write(d, user(IPATH_USER_HDR_HEAD),
			    d->head | (d->head == tail ? IPATH_HEAD_INTERRUPT : 0));
	}
}

static int memory_alloc(struct ipath_device *d)
{
	struct platform *p = d->p;

	d->queue = p->ops->pages_alloc(p, QUEUE_BYTES, &d->queue_bus);
	d->tail_page = p->ops->pages_alloc(p, PLATFORM_PAGE_SIZE, &d->tail_bus);
	if (!d->queue || !d->tail_page)
		return -ENOMEM;
	memset(d->tail_page, 0, PLATFORM_PAGE_SIZE);
	for (unsigned i = 0; i < IPATH_EAGERS; i++) {
		d->eager[i] = p->ops->pages_alloc(p, IPATH_EAGER_BUFFER, &d->eager_bus[i]);
		if (!d->eager[i])
			return -ENOMEM;
	}
	return 0;
}

int ipath_receive_init(struct ipath_device *d)
{
	int rc = memory_alloc(d);

	if (rc)
		return rc;
	ipath_write(d, IPATH_RcvBTHQP, KD_QP);
	ipath_write(d, IPATH_RcvHdrEntSize, IPATH_ENTRY_DWORDS);
	ipath_write(d, IPATH_RcvHdrSize, KD_HEADER);
	ipath_write(d, IPATH_RcvHdrCnt, IPATH_ENTRIES);
	for (unsigned i = 0; i < IPATH_EAGERS; i++) {
		const uint32_t entry = (uint32_t)(d->eager_bus[i] >> IPATH_EAGER_SHIFT) |
				       (uint32_t)EAGER_4K << IPATH_EAGER_SIZE_SHIFT;
		const uint8_t bytes[DWORD] = {(uint8_t)entry, (uint8_t)(entry >> 8),
					      (uint8_t)(entry >> 16), (uint8_t)(entry >> 24)};

		d->p->ops->mmio_write(d->p, 0, IPATH_EAGER + i * 8, bytes, DWORD);
	}
	ipath_write(d, IPATH_RcvHdrTailAddr, d->tail_bus);
	ipath_write(d, IPATH_RcvHdrAddr, d->queue_bus);
	ipath_write(d, IPATH_RcvCtrl,
		    IPATH_RCV_ENABLE(0) | IPATH_RCV_INTERRUPT(0) | IPATH_RCV_TAIL);
	/* the chip counts its own index from here: all buffers are free */
	ipath_write(d, user(IPATH_USER_EGR_HEAD), ipath_read(d, user(IPATH_USER_EGR_TAIL)));
	d->head = (uint32_t)ipath_read(d, user(IPATH_USER_HDR_TAIL));
	ipath_write(d, user(IPATH_USER_HDR_HEAD), d->head | IPATH_HEAD_INTERRUPT);
	return 0;
}

void ipath_receive_cleanup(struct ipath_device *d)
{
	struct platform *p = d->p;

	for (unsigned i = 0; i < IPATH_EAGERS && d->eager[i]; i++)
		p->ops->pages_free(p, d->eager[i], IPATH_EAGER_BUFFER);
	if (d->tail_page)
		p->ops->pages_free(p, d->tail_page, PLATFORM_PAGE_SIZE);
	if (d->queue)
		p->ops->pages_free(p, d->queue, QUEUE_BYTES);
}
