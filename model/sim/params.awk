# SPDX-License-Identifier: Apache-2.0
# Writes the headers that follow from the rows of params.h into the folder `dir`:
#
#   GROUP_SECTION.h   a function for each parameter of a section, for code that reads it. A new row
#                     changes the header of its own section, so only the users of that section
#                     are compiled again.
#   structs.h         struct hca_params, host_params and sim_params with all members.
#
# Each section has room for ROOM rows, so a new row does not move the rows of other sections.

BEGIN { ROOM = 32 }

/^#define [A-Z]+_PARAMS\(P\)/ {
	group = tolower($2)
	sub(/_params\(p\)/, "", group)
}

/^\tP\(/ {
	split($0, row, /[(,] */)
	name = group "." row[2]
	if (!(name in rows)) {
		sections[++section_count] = name
		group_of[name] = group
		section_of[name] = row[2]
	} else if (name != sections[section_count]) {
		fail("the rows of [" name "] do not stand together")
	}
	if (rows[name] == ROOM)
		fail("[" name "] has more than " ROOM " rows; raise ROOM in params.awk")
	key[name, rows[name]++] = row[3]
}

END {
	if (failed)
		exit 1
	for (i = 1; i <= section_count; i++)
		section_write(sections[i], i)
	structs_write()
}

function fail(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"
	failed = 1
	exit
}

function head(file, guard, text) {
	printf "/* SPDX-License-Identifier: Apache-2.0 */\n" >file
	printf "/* Made by model/sim/params.awk from model/sim/params.h: %s. */\n", text >file
	printf "#ifndef %s\n#define %s\n\n#include <stdint.h>\n\n", guard, guard >file
}

# place: how many sections of the same group stand before this one.
function section_write(name, i,    group, file, guard, place, n) {
	group = group_of[name]
	file = section_of[name] == group ? group : group "_" section_of[name]
	for (n = 1; n < i; n++)
		place += group_of[sections[n]] == group
	guard = toupper("model_sim_params_" file "_h")
	file = dir "/" file ".h"
	head(file, guard, "the parameters of [" (section_of[name] == group ? group : name) "]")
	printf "struct %s_params;\n", group >file
	for (n = 0; n < rows[name]; n++) {
		printf "\nstatic inline uint64_t %sparam_%s_%s(const struct %s_params *params)\n{\n", \
			group == "hca" ? "" : group "_", section_of[name], key[name, n], group >file
		printf "\treturn ((const uint64_t *)params)[%d];\n}\n", place * ROOM + n >file
	}
	printf "\n#endif\n" >file
	close(file)
}

function structs_write(    file, name, i, n) {
	file = dir "/structs.h"
	head(file, "MODEL_SIM_PARAMS_STRUCTS_H", "all parameters")
	for (i = 1; i <= section_count; i++) {
		name = sections[i]
		if (group_of[name] != group_of[sections[i - 1]])
			printf "%sstruct %s_params {\n", (i == 1 ? "" : "};\n\n"), group_of[name] >file
		for (n = 0; n < rows[name]; n++)
			printf "\tuint64_t %s_%s;\n", section_of[name], key[name, n] >file
		if (n < ROOM)
			printf "\tuint64_t %s_spare[%d];\n", section_of[name], ROOM - n >file
	}
	printf "};\n\n#endif\n" >file
}
