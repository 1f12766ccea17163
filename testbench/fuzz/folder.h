/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run's folder for tools to read, in which one file is not as it was written. The other files
 * come from a real run. Most of its records are removed: all packets stay, and a few records of
 * every other point.
 */
#ifndef TESTBENCH_FUZZ_FOLDER_H
#define TESTBENCH_FUZZ_FOLDER_H

#include <stddef.h>
#include <stdint.h>

/* F(name, file) */
#define FOLDER_FILES(F)                                                                            \
	F(RECORDS, "run.records")                                                                  \
	F(CAPTURE, "packets.pcapng")                                                               \
	F(CONFIG, "config.ini")                                                                    \
	F(STATS, "stats.json")                                                                     \
	F(RUN, "run.json")                                                                         \
	F(WAVES, "waves.vcd")                                                                      \
	F(TIMELINE, "timeline.json")                                                               \
	F(GOLDEN, "trace.golden")                                                                  \
	F(POINTS, "points.csv")

enum folder_file {
#define F(name, file) FOLDER_##name,
	FOLDER_FILES(F)
#undef F
		FOLDER_FILE_COUNT
};

struct folder_bytes {
	uint8_t *bytes;
	size_t len;
};

/* Copies the files of a real run's folder; a missing file counts as empty. Ends the process when
 * there is no such run. */
void folder_open(const char *run);
void folder_close(void);
const char *folder_file_name(enum folder_file file);
/* The file of the real run. */
const struct folder_bytes *folder_real(enum folder_file file);
/* Writes other bytes to the file, runs every tool that reads it, and restores it. */
void folder_try(enum folder_file file, const uint8_t *bytes, size_t len);

#endif
