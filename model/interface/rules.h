/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guest errors: what software must not do to this device. When software breaks a rule, the device
 * answers as hardware would and counts the error. It also traces the error with the name of the
 * rule and the simulated time. The simulation continues. A source is the behaviour of the mlx4
 * driver, or a clause of the InfiniBand specification (IBA).
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
	  "the device needed a translation entry (MTT) whose present bit is 0", \
	  "mlx4 MTT entry, bit 0") \
	R(icm_unmapped, \
	  "the context, MPT, MTT or other table entry of a live object lies in ICM that is not mapped", \
	  "mlx4 UNMAP_ICM, mlx4_table_put") \
	R(doorbell_dead_qp, \
	  "a send doorbell named a QP that is not valid, or that is in a state that does not send", \
	  "mlx4 UAR send doorbell; IBA 10.3.1") \
	R(cq_consumer_index, \
	  "software set a CQ's consumer index beyond its producer index", \
	  "mlx4 CQ doorbell record") \
	R(eq_consumer_index, \
	  "software set an EQ's consumer index beyond its producer index", \
	  "mlx4 EQ doorbell") \
	R(rq_overposted, \
	  "software posted more receives than the queue holds", \
	  "mlx4 RQ doorbell record") \
	R(mailbox_reserved, \
	  "a command has reserved bits set in its mailbox or modifier", \
	  "mlx4 command formats") \
	R(object_after_hw2sw, \
	  "software used an object after it had taken it back from the device", \
	  "mlx4 HW2SW_MPT, HW2SW_CQ, HW2SW_EQ, HW2SW_SRQ, 2RST_QP") \
	R(object_dead, \
	  "a command, context or doorbell used a number that names no valid CQ, EQ or SRQ", \
	  "mlx4 SW2HW commands") \
	R(blueflame_mismatch, \
	  "a BlueFlame write names another QP or index than the queue's next work request, or some of its lines are missing", \
	  "mlx4 BlueFlame, ctrl dword 0 and 1") \
	R(register_unknown, \
	  "software accessed a register that does not exist", \
	  "mlx4 BAR0 map") \
	R(register_size, \
	  "software accessed a register with a size or alignment that it does not have", \
	  "mlx4: 32-bit accesses in BAR0") \
	R(hcr_busy, \
	  "software wrote the command register while a command was pending", \
	  "mlx4 HCR GO bit") \
	R(command_sequence, \
	  "a command came before the commands that it needs (RUN_FW, INIT_HCA, ...)", \
	  "mlx4 probe sequence") \
	R(qp_transition, \
	  "a command asked for a transition that the state of the QP does not allow", \
	  "IBA 10.3.1, mlx4 QP commands") \
	R(wqe_malformed, \
	  "a work request has a form that no hardware accepts: size 0 or beyond the stride, unknown opcode, segments missing", \
	  "mlx4 WQE formats") \
	R(bus_master_off, \
	  "the device needed DMA or an interrupt while bus mastering was off", \
	  "PCI command register, bit 2") \
	R(doorbell_wrong_uar, \
	  "a doorbell came through another UAR page than that of the object", \
	  "mlx4 usr_page")
/* clang-format on */

enum guest_rule {
#define R(name, meaning, source) RULE_##name,
	GUEST_RULES(R)
#undef R
		RULE_COUNT
};

#endif
