/* SPDX-License-Identifier: Apache-2.0 */
/* See harm.h. */
#include "testbench/harm.h"
#include "host_driver/mlx4/alloc.h"
#include "model/systemc/kernel.h"
#include "testbench/language/software.h"

/* CONTROL: offset of the control word in an entry of the MSI-X table. VECTORS_A_WORD: vectors in
 * one 32-bit word of the pending bit array. */
enum { CONTROL = 12, VECTORS_A_WORD = 32, MASK_BIT = 1 };

void tb_late(struct tb *tb, const char *here, struct tb_end *end, const struct hca_late_dma *late)
{
	struct hca *hca = host_hca(end->host);

	if (!tb_go(tb, here))
		return;
	if (tb_in_software(end)) {
		tb_lacks(tb, here, end, "DMA of %s", late->what ? late->what : "its transport");
		return;
	}
	if (late->times && hca_dma_late_left(hca))
		tb_failf(tb, here, "one late DMA of %s after the other: one has not come",
			 end->name);
	hca_dma_late(hca, late);
}

void tb_fail_command(struct tb *tb, const char *here, struct tb_end *end, uint32_t opcode,
		     uint8_t status, uint32_t times)
{
	struct hca *hca = host_hca(end->host);

	if (!tb_go(tb, here))
		return;
	if (times && hca_command_fail_left(hca))
		tb_failf(tb, here, "one failing command of %s after the other: one has not come",
			 end->name);
	if (hca_command_fail(hca, &(const struct hca_command_fault){
					  .opcode = opcode, .status = status, .times = times}))
		tb_lacks(tb, here, end, "commands that could fail");
}

bool tb_refuse_command(struct tb *tb, const char *here, struct tb_end *end, uint32_t nth,
		       uint8_t status)
{
	const struct hca_command_fault fault = {
		.skip = nth ? nth - 1 : 0, .times = !!nth, .status = status};
	struct hca *hca = host_hca(end->host);
	bool came;

	if (!tb_go(tb, here))
		return false;
	came = !hca_command_fail_left(hca);
	if (hca_command_fail(hca, &fault))
		tb_lacks(tb, here, end, "commands that could fail");
	return came;
}

void tb_mask_vector(struct tb *tb, const char *here, struct tb_end *end, unsigned vector,
		    bool masked)
{
	unsigned at = BAR0_MSIX_TABLE + vector * HCA_MSIX_ENTRY_SIZE + CONTROL;

	/* PCI registers are little-endian; the driver's accessor is big-endian */
	if (tb_go(tb, here))
		drv_raw_mmio_write32(end->dev, HCA_BAR_REGS, at,
				     __builtin_bswap32(masked ? MASK_BIT : 0));
}

bool tb_vector_pending(struct tb *tb, const char *here, struct tb_end *end, unsigned vector)
{
	unsigned at = BAR0_MSIX_PBA + vector / VECTORS_A_WORD * 4;

	if (!tb_go(tb, here))
		return false;
	return __builtin_bswap32(drv_raw_mmio_read32(end->dev, HCA_BAR_REGS, at)) >>
		       vector % VECTORS_A_WORD &
	       1;
}

void tb_evict(struct tb *tb, const char *here, struct tb_end *end, enum hca_object type,
	      uint32_t number)
{
	if (!tb_go(tb, here))
		return;
	if (tb_in_software(end))
		tb_lacks(tb, here, end, "caches of contexts and keys");
	else
		hca_evict(host_hca(end->host), type, number);
}

/* --- memory of the host --- */

/* One process runs one scenario. */
static struct {
	const struct kernel_thread *thread; /* whose allocation fails, or only whose does not */
	bool elsewhere;
	unsigned left; /* allocations until then; 0: none fails */
	bool came;
} lack;

static bool memory_lacks(void)
{
	if (!lack.left || (kernel_thread_running() == lack.thread) == lack.elsewhere || --lack.left)
		return false;
	lack.came = true;
	return true;
}

static bool lack_begin(unsigned nth, bool elsewhere)
{
	const bool came = lack.came;

	lack.thread = kernel_thread_running();
	lack.elsewhere = elsewhere;
	lack.left = nth;
	lack.came = false;
	drv_calloc_fails = nth ? memory_lacks : NULL;
	return came;
}

bool lack_memory(unsigned nth)
{
	return lack_begin(nth, false);
}

bool lack_memory_elsewhere(unsigned nth)
{
	return lack_begin(nth, true);
}
