/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run's folder for tools to read, of which one file is not as it was written. The other files are
 * those of a real run, whose records are made few: some of each point, of packets all.
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

/* The files of a real run's folder, copied; those that it lacks are empty. Ends the process when
 * there is no such run. */
void folder_open(const char *run);
void folder_close(void);
const char *folder_file_name(enum folder_file file);
/* What the real run has. */
const struct folder_bytes *folder_real(enum folder_file file);
/* Puts other bytes into the file, lets every tool that reads it read it, and puts back what was
 * there. */
void folder_try(enum folder_file file, const uint8_t *bytes, size_t len);

#endif
