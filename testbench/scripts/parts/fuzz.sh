# SPDX-License-Identifier: Apache-2.0
# Fuzz targets without the fuzzer: inputs that once failed, some of the first inputs, and a few random ones. Damaged files. Sourced by run_tests.sh.

fuzz_seeds()
{
	"$hcasim" run rc_atomic --trace log,records,pcapng,vcd,timeline -o "$scratch/whole" >/dev/null && mkdir "$scratch/seeds" && "$O/fuzz_seeds" "$scratch/seeds" "$scratch/whole"
}
one "fuzz.seeds" fuzz_seeds
export FUZZ_FW=$O/fw/hcasim-fw.elf FUZZ_RUN=$scratch/whole
for t in packet frames transport verbs hcr objects icm wqe regs gdb fw_elf ini run_folder pcapng ctl vfio_user iwarp; do
	mapfile -t inputs < <(find "testbench/fuzz/corpus/$t" -type f 2>/dev/null; find "$scratch/seeds/$t" -type f 2>/dev/null | sort -V | awk 'NR % 16 == 1')
	ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 one "fuzz.$t" timeout 300 "$O/fuzz/$t" "${inputs[@]}"
	ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 one "fuzz.$t.random" timeout 300 "$O/fuzz/$t" --random 16 1
done

# first inputs reach edges of the firmware that bringing the machine up does not
edges_of() { ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 timeout 300 "$O/fuzz/hcr" "$@" | sed -n 's/ edges of the firmware$//p'; }
fuzz_edges() { (($(edges_of /dev/null) > 500 && $(edges_of "$scratch"/seeds/hcr/*) > $(edges_of /dev/null) + 800)); }
one "fuzz.edges" fuzz_edges

# responders and requesters of engine and software do alike, over some 15,000 packets; and a mistake in any of them is found before the 100,000th
one "transport.streams" timeout 600 "$O/fuzz/transport" --random 1000 1
# and both answer as Linux' ib_qib has answered to the same requests
one "transport.opinion" timeout 60 "$O/fuzz/opinion" testbench/fuzz/transport_opinion.txt
seeded_found() { "$O/fuzz/transport_seeded_$1" --random 10000 1 2>&1 | awk '/differ after packet/ { n = $6 + 0; print } END { exit !(n && n < 100000) }'; }
for n in 1 2 3 4 5 6; do one "transport.seeded_$n" timeout 600 bash -c "$(declare -f seeded_found); O=$O seeded_found $n"; done

# every tool that reads the files of a run gets damaged ones
one "tool.damaged_files" timeout 300 "$O/damage" "$scratch/whole" 8
