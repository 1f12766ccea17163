# SPDX-License-Identifier: Apache-2.0
# The tree: its interfaces, documents, layout and rooms, and what is installed. Sourced by run_tests.sh.

one "scenario_file.interface" testbench/scripts/interface.sh check
# a user's file that was written against earlier headers, as it was
one "scenario_file.older_spellings" timeout 60 "$hcasim" run testbench/tests/older_spellings.c -o "$scratch/older"
later "readme.names" testbench/scripts/check_readme.sh
one "form.licence" testbench/scripts/check_form.sh licence
testbench/scripts/check_form.sh layout >"$logs/form.layout.log" 2>&1
case $? in
0) good "form.layout" ;;
77) echo "skip  form.layout: no clang-format 14" ;;
*) bad "form.layout" ;;
esac
later "rooms.calls" testbench/scripts/check_rooms.py "$O"
# A call from the lowest room to a high one, put into an object: it is found, and so is the circle that it closes.
rooms_finds_calls_up()
{
	local dir=$scratch/rooms
	mkdir -p "$dir/obj/model" && cp -r "$O/obj/model/engine" "$dir/obj/model/" && ln -s "$PWD/$O/obj/testbench" "$dir/obj/" || return 1
	echo 'void receive_unit_stall(void *hca); void calls_up(void *hca) { receive_unit_stall(hca); }' | gcc -x c -c -o "$dir/up.o" - &&
		ld -r -o "$dir/obj/model/engine/base/keep.o" "$O/obj/model/engine/base/keep.o" "$dir/up.o" || return 1
	! testbench/scripts/check_rooms.py "$dir" >"$dir/said" && cat "$dir/said" &&
		grep -q '^base/keep.c calls up: receive/receive_unit.c: receive_unit_stall$' "$dir/said" &&
		grep -q '^rooms call each other in a circle: base, .*receive' "$dir/said"
}
later "rooms.finds_calls_up" rooms_finds_calls_up

# an installation that was moved, with the source tree out of reach
mkdir "$scratch/install"
case $O in
build) later "install.moved" timeout 300 testbench/scripts/install_test.sh "$scratch/install" ;;
*) echo "skip  install.moved: only with the ordinary build" ;;
esac
later "systemc.tlm_example" timeout 120 "$O/tlm_example" "$O/fw/hcasim-fw.elf"

one "behaviours.list" testbench/scripts/behaviours.sh check
all_done
