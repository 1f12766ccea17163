/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ordering of memory accesses between the CPU and the device, with one function for each place that
 * needs it. On x86 such a fence makes no instruction and only keeps the compiler from moving
 * accesses; on arm64 it is a barrier. The comments say what would go wrong without it on real
 * hardware. hcasim-checked finds a place that lacks one (testbench/dsan/).
 */
#ifndef HOST_DRIVER_MLX4_BARRIERS_H
#define HOST_DRIVER_MLX4_BARRIERS_H

/* Stores before it become visible before stores behind it, writes of registers included. */
static inline void drv_store_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* Loads before it take place before loads behind it. */
static inline void drv_load_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* Writes the body of a WQE before its owner bit. Otherwise a device that reads ahead could execute
 * half a WQE. */
static inline void drv_wqe_body_before_owner(void)
{
	drv_store_barrier();
}

/* Writes the rest of a 64-byte chunk before its first word, where the stamp stands until then.
 * Otherwise a device that reads ahead could take a valid byte count with an old address. */
static inline void drv_chunk_body_before_head(void)
{
	drv_store_barrier();
}

/* Writes the WQE before the doorbell or BlueFlame write. Otherwise the device could find an invalid
 * owner bit and stop. */
static inline void drv_wqe_before_doorbell(void)
{
	drv_store_barrier();
}

/* Writes receive WQEs before the doorbell record that counts them. */
static inline void drv_recv_before_record(void)
{
	drv_store_barrier();
}

/* Reads the owner bit of a CQE or EQE before the rest of it. Otherwise fields of the previous round
 * could be read. */
static inline void drv_owner_before_entry(void)
{
	drv_load_barrier();
}

/* Reads the entries before the consumer index gives their slots back. Otherwise the device could
 * overwrite entries that have not been read. */
static inline void drv_entries_before_index(void)
{
	drv_store_barrier();
}

/* Writes the arm record before the arm doorbell. Otherwise the device could read an old record. */
static inline void drv_record_before_arm(void)
{
	drv_store_barrier();
}

/* Writes MTT entries in ICM before the command or WQE that makes the device use them. */
static inline void drv_mtt_before_use(void)
{
	drv_store_barrier();
}

/* Writes the mailbox and the HCR's parameters before the word with GO. */
static inline void drv_command_before_go(void)
{
	drv_store_barrier();
}

#endif
