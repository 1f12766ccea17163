/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ordering of memory accesses between the CPU and the device, with one function for each place that
 * needs it. The simulated host is one coherent CPU whose stores become visible in program order. So
 * each function only keeps the compiler from moving accesses. The comments say what would go wrong
 * without it on real hardware.
 */
#ifndef HOST_DRIVER_MLX4_BARRIERS_H
#define HOST_DRIVER_MLX4_BARRIERS_H

static inline void drv_compiler_barrier(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Writes the body of a WQE before its owner bit. Otherwise a device that reads ahead could execute
 * half a WQE. */
static inline void drv_wqe_body_before_owner(void)
{
	drv_compiler_barrier();
}

/* Writes the WQE before the doorbell or BlueFlame write. Otherwise the device could find an invalid
 * owner bit and stop. */
static inline void drv_wqe_before_doorbell(void)
{
	drv_compiler_barrier();
}

/* Writes receive WQEs before the doorbell record that counts them. */
static inline void drv_recv_before_record(void)
{
	drv_compiler_barrier();
}

/* Reads the owner bit of a CQE or EQE before the rest of it. Otherwise fields of the previous round
 * could be read. */
static inline void drv_owner_before_entry(void)
{
	drv_compiler_barrier();
}

/* Reads the entries before the consumer index gives their slots back. Otherwise the device could
 * overwrite entries that have not been read. */
static inline void drv_entries_before_index(void)
{
	drv_compiler_barrier();
}

/* Writes the arm record before the arm doorbell. Otherwise the device could read an old record. */
static inline void drv_record_before_arm(void)
{
	drv_compiler_barrier();
}

/* Writes MTT entries in ICM before the command or WQE that makes the device use them. */
static inline void drv_mtt_before_use(void)
{
	drv_compiler_barrier();
}

/* Writes the mailbox and the HCR's parameters before the word with GO. */
static inline void drv_command_before_go(void)
{
	drv_compiler_barrier();
}

#endif
