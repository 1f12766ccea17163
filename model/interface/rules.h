/*
 * Guest errors: what software may not do to this device. Each is counted and traced with its rule's
 * name and simulated time, answered as hardware would, and never fatal to the simulator. Sources
 * name the mlx4 facts (driver behaviour) or the InfiniBand specification (IBA).
 */
#ifndef MODEL_INTERFACE_RULES_H
#define MODEL_INTERFACE_RULES_H

/* clang-format off */
/* R(name, "meaning", "source") */
#define GUEST_RULES(R) \
	R(dma_unmapped, \
	  "the device was told to read or write a bus address that is not mapped for it", \
	  "PCIe: unsupported request; IOMMU fault") \
	R(mtt_not_present, \
	  "a translation entry without its present bit was used", "mlx4 MTT entry, bit 0") \
	R(icm_unmapped, \
	  "the context, MPT, MTT or other table entry of a live object lies in ICM that is not " \
	  "mapped", \
	  "mlx4 UNMAP_ICM, mlx4_table_put") \
	R(doorbell_dead_qp, \
	  "a send doorbell named a QP that is not valid or not in a state that sends", \
	  "mlx4 UAR send doorbell; IBA 10.3.1") \
	R(cq_consumer_index, \
	  "a CQ's consumer index is beyond its producer index", "mlx4 CQ doorbell record") \
	R(eq_consumer_index, \
	  "an EQ's consumer index is beyond its producer index", "mlx4 EQ doorbell") \
	R(rq_overposted, \
	  "more receives were posted than the queue holds", "mlx4 RQ doorbell record") \
	R(mailbox_reserved, \
	  "reserved bits of a command's mailbox or modifier are set", "mlx4 command formats") \
	R(object_after_hw2sw, \
	  "an object was used after it was given back to software", \
	  "mlx4 HW2SW_MPT, HW2SW_CQ, HW2SW_EQ, HW2SW_SRQ, 2RST_QP") \
	R(object_dead, \
	  "a number that names no valid CQ, EQ, SRQ was used by a command, a context or a " \
	  "doorbell", \
	  "mlx4 SW2HW commands") \
	R(blueflame_mismatch, \
	  "a BlueFlame write names another QP or index than the queue's next work request, or " \
	  "lines of it are missing", \
	  "mlx4 BlueFlame, ctrl dword 0 and 1") \
	R(register_unknown, "a register was accessed that does not exist", "mlx4 BAR0 map") \
	R(register_size, \
	  "a register was accessed with a size or alignment it does not have", \
	  "mlx4: 32-bit accesses in BAR0") \
	R(hcr_busy, \
	  "the command register was written while a command was pending", "mlx4 HCR GO bit") \
	R(command_sequence, \
	  "a command came before the ones it needs (RUN_FW, INIT_HCA, ...)", \
	  "mlx4 probe sequence") \
	R(qp_transition, \
	  "a QP was asked for a transition its state does not allow", \
	  "IBA 10.3.1, mlx4 QP commands") \
	R(wqe_malformed, \
	  "a work request that no hardware accepts: size 0 or beyond the stride, unknown " \
	  "opcode, segments missing", \
	  "mlx4 WQE formats") \
	R(bus_master_off, \
	  "the device had to use DMA or interrupts while bus mastering is off", \
	  "PCI command register, bit 2") \
	R(doorbell_wrong_uar, \
	  "a doorbell came through another UAR page than the object's", "mlx4 usr_page")
/* clang-format on */

enum guest_rule {
#define R(name, meaning, source) RULE_##name,
	GUEST_RULES(R)
#undef R
		RULE_COUNT
};

#endif
