/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ordering of memory between the CPU and the device, by what each place needs. The simulated host
 * is one coherent CPU whose stores become visible in program order, so each of them only keeps the
 * compiler from moving accesses; the names say what breaks without it on real hardware.
 */
#ifndef HOST_DRIVER_MLX4_BARRIERS_H
#define HOST_DRIVER_MLX4_BARRIERS_H

static inline void drv_compiler_barrier(void)
{
	__asm__ volatile("" ::: "memory");
}

/* The body of a WQE before its owner bit: a device that scans ahead would execute half a WQE. */
static inline void drv_wqe_body_before_owner(void)
{
	drv_compiler_barrier();
}

/* The WQE before the doorbell or BlueFlame write: the device would find an invalid owner and stop.
 */
static inline void drv_wqe_before_doorbell(void)
{
	drv_compiler_barrier();
}

/* Receive WQEs before the doorbell record that counts them. */
static inline void drv_recv_before_record(void)
{
	drv_compiler_barrier();
}

/* The owner bit of a CQE or EQE before the rest of it: fields of the previous round would be taken.
 */
static inline void drv_owner_before_entry(void)
{
	drv_compiler_barrier();
}

/* The consumer index before the slots are written by others: the device would see an overrun, or
 * overwrite what is not read. */
static inline void drv_entries_before_index(void)
{
	drv_compiler_barrier();
}

/* The arm record before the arm doorbell: the device would read an old record. */
static inline void drv_record_before_arm(void)
{
	drv_compiler_barrier();
}

/* MTT entries in ICM before the command or WQE that makes the device use them. */
static inline void drv_mtt_before_use(void)
{
	drv_compiler_barrier();
}

/* The mailbox and the HCR's parameters before the word with GO. */
static inline void drv_command_before_go(void)
{
	drv_compiler_barrier();
}

#endif
