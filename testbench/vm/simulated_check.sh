# SPDX-License-Identifier: Apache-2.0
# The checks `simulated.*` of make vm-test: what make vm-run TIME=simulated promises. Sourced by test.sh. Each uses its own folders below
# $VM_DIR/simulated. BOOTS=20: how many times check_simulated_boots starts a guest.
sim_dir=$VM_DIR/simulated

# sim_run NAME GUESTS SCRIPT: a run with OUT=$sim_dir/NAME, whose output is in $sim_dir/NAME.txt
sim_run()
{
	local out=$sim_dir/$1
	rm -rf "$out"; mkdir -p "$out"
	TIME=simulated GUESTS=$2 OUT=$out VM_DIR=$sim_dir/vm MEM=${MEM:-512M} SMALL=1 TIMEOUT=${SIM_TIMEOUT:-60} setpriv --pdeathsig TERM \
		timeout -k 30 "${SIM_LIMIT:-1200}" "$vm_src/run.sh" "$3" >"$out.txt" 2>&1
}

# sim_load OWNER: keeps the processors and the disk busy until it is killed, or that process ends
sim_load()
{
	local n
	for ((n = $(getconf _NPROCESSORS_ONLN); n > 0; n--)); do while [ -d "/proc/$1" ]; do :; done & done
	while [ -d "/proc/$1" ]; do dd if=/dev/zero of="$sim_dir/load" bs=64k count=256 conv=fsync status=none; sleep 0.05; done
}

# sim_twice NAME GUESTS SCRIPT: two runs, the second one beside a load, leave equal folders
sim_twice()
{
	local first=$sim_dir/$1.first second=$sim_dir/$1.second load status
	sim_run "$1.first" "$2" "$3" || { status=$?; cat "$first.txt"; detail="status $status"; return 1; }
	setsid bash -c "sim_dir=$sim_dir; $(declare -f sim_load); sim_load $$" &
	load=$!
	sim_run "$1.second" "$2" "$3"
	status=$?
	kill -- -$load; wait $load 2>/dev/null; rm -f "$sim_dir/load"
	grep -h 'wall s' "$first.txt" "$second.txt"
	[ $status -eq 0 ] || { cat "$second.txt"; detail="status $status beside a load"; return 1; }
	[ -s "$first/run.log" ] && [ "$(wc -c <"$first/packets.pcapng")" -gt 100000 ] || { detail='an empty run'; return 1; }
	detail=$(diff -rq "$first" "$second" | head -n 3)
	[ -z "$detail" ] || { diff -r --text "$first" "$second" | head -n 40; return 1; }
	detail="$(ls "$first" | wc -l) files of $(du -sm "$first" | cut -f 1) MB are equal"
}

check_simulated_one_guest()
{
	mkdir -p "$sim_dir"
	cat >"$sim_dir/one.sh" <<-'END'
		phase probe; driver_load || exit 1
		phase opensm; opensm >/dev/null 2>&1 & ports_are 4 60 || exit 1
		phase pingpong; ibv_rc_pingpong -e -d mlx4_0 & listening 18515 && ibv_rc_pingpong -e -d mlx4_1 localhost || exit 1
		wait $!
		pkill opensm
	END
	sim_twice one 1 "$sim_dir/one.sh"
}

# watched: a run whose loads and stores are heard leaves the same bytes, and the unmodified driver breaks no rule
check_simulated_watched()
{
	local heard
	mkdir -p "$sim_dir"
	cat >"$sim_dir/watched.sh" <<-'END'
		driver_load || exit 1
		opensm >/dev/null 2>&1 & ports_are 4 60 || exit 1
		ibv_rc_pingpong -e -n 50 -d mlx4_0 & listening 18515 && ibv_rc_pingpong -e -n 50 -d mlx4_1 localhost || exit 1
		wait $!
		pkill opensm
	END
	sim_run watched.first 1 "$sim_dir/watched.sh" || { detail='the run that is not watched'; cat "$sim_dir/watched.first.txt"; return 1; }
	CHECK=1 sim_run watched.second 1 "$sim_dir/watched.sh" || { detail='the run that is watched'; cat "$sim_dir/watched.second.txt"; return 1; }
	heard=$(sed -n 's/.* \([0-9]*\) loads and stores.*/\1/p' "$sim_dir/vm/a.qemu.log")
	detail=$(diff -rq "$sim_dir/watched.first" "$sim_dir/watched.second" | head -n 3)
	[ -z "$detail" ] || return 1
	detail="$heard loads and stores heard, no guest error, and the same bytes"
	[ "${heard:-0}" -gt 10000 ]
}

# replay: a recorded peer's frames come to a guest, and two such runs leave equal folders. The peer announces 11.0.1.2; Linux learns that.
check_simulated_replay()
{
	local n
	mkdir -p "$sim_dir"
	"$O/hcasim" run net_replayed --trace pcapng -o "$sim_dir/peer" >"$sim_dir/peer.txt" 2>&1 || { detail='no run to record'; return 1; }
	cat >"$sim_dir/replay.sh" <<-'END'
		driver_load && modprobe mlx4_en || exit 1
		sysctl -qw net.ipv4.conf.all.arp_accept=1
		ip addr add 11.0.1.1/24 dev eth0 && ip link set eth0 up || exit 1
		for i in $(seq 50); do
			ip neigh show 11.0.1.2 | grep lladdr && exit
			sleep 0.2
		done
		exit 1
	END
	for n in first second; do
		SERVE="-s hca0.port1.type=eth -s hca0.device=cx3pro -s hca0.port1.wire=replay:$sim_dir/peer@7s" sim_run replay.$n 1 "$sim_dir/replay.sh" ||
			{ cat "$sim_dir/replay.$n.txt"; detail="the $n run fails"; return 1; }
	done
	detail=$(diff -rq "$sim_dir/replay.first" "$sim_dir/replay.second" | head -n 3)
	[ -z "$detail" ] || return 1
	detail="$(cat "$sim_dir/replay.first/a.output")"
}

check_simulated_two_guests()
{
	mkdir -p "$sim_dir"
	cat >"$sim_dir/two.sh" <<-'END'
		phase probe; driver_load && modprobe ib_ipoib || exit 1
		phase opensm; [ $GUEST = b ] || opensm >/dev/null 2>&1 &
		ports_are 4 60 || exit 1
		case $GUEST in a) host=1 ;; b) host=2 ;; esac
		ip addr add 10.9.0.$host/24 dev ib0; ip link set ib0 up
		phase pingpong
		if [ $GUEST = a ]; then ibv_rc_pingpong -e || exit 1; else
			until busybox ping -c 1 -W 1 10.9.0.1 >/dev/null; do sleep 0.2; done
			sleep 0.5; ibv_rc_pingpong -e 10.9.0.1 || exit 1
		fi
		sleep 0.5
		[ $GUEST = b ] || pkill opensm
		exit 0
	END
	sim_twice two 2 "$sim_dir/two.sh"
}

# sim_killed NAME PATTERN WORDS: two guests run; the child of run.sh whose command line has PATTERN is killed; the others end, and say WORDS
sim_killed()
{
	local out=$sim_dir/$1.txt run victim
	rm -f "$out"
	SIM_TIMEOUT=100000 sim_run "$1" 2 "$sim_dir/wait.sh" &
	run=$!
	wait_until 600 grep -qs '^b: ready' "$out" || { detail="$1: the guests did not come up"; kill $run; wait $run; cat "$out"; return 1; }
	victim=$(pgrep -f -- "$2") || { detail="$1: no process $2"; kill $run; wait $run; return 1; }
	kill -KILL $victim
	wait_until 30 eval "! kill -0 $run 2>/dev/null" || { detail="$1: the run goes on after 30 s"; kill $run; wait $run; return 1; }
	wait $run
	[ $? -eq 125 ] && grep -q "$3" "$out" || { detail="$1: the status, or no words '$3'"; cat "$out"; return 1; }
}

check_simulated_killed()
{
	mkdir -p "$sim_dir"
	printf 'echo ready\nsleep 100000\n' >"$sim_dir/wait.sh"
	sim_killed serve_killed "hcasim serve.*/serve_killed" 'hcasim serve has ended, so the guest ends' &&
		sim_killed guest_killed "$sim_dir/vm/b.serial" 'serve ends: guest 1 at .*gone' &&
		detail='a killed serve ends both guests, a killed guest ends serve and the other guest'
}

# Where the plugin cannot work it says so, and QEMU does not start.
check_simulated_refused()
{
	local foreign qemu out=$sim_dir/refused.txt socket=$run_dir/refused serve
	mkdir -p "$sim_dir"
	foreign "$qemu_root" $qemu_program
	qemu=(timeout 60 "${foreign[@]}" -L "$qemu_root/usr/share/qemu" -L "$qemu_root/usr/share/seabios" -nodefaults -display none
		-machine $machine,accel=tcg "${processor[@]}" -plugin "$O/vm/guest-clock.so,socket=$socket.clock")
	"${qemu[@]}" >"$out" 2>&1
	[ $? -eq 1 ] && grep -q 'cannot run in simulated time; leave TIME=simulated away' "$out" || { detail='no serve'; cat "$out"; return 1; }
	"${child[@]}" "$O/hcasim" serve --socket "$socket" --guest-clock "$socket.clock" -o "$sim_dir/refused" >"$out.serve" 2>&1 &
	serve=$!
	wait_until 20 test -S "$socket.clock"
	"${qemu[@]}" >"$out" 2>&1
	[ $? -eq 1 ] && grep -q 'it needs -icount' "$out" || { detail='without -icount'; cat "$out"; kill $serve; return 1; }
	wait_until 20 eval "! kill -0 $serve 2>/dev/null" || { detail='serve goes on'; kill $serve; return 1; }
	detail='no serve; no -icount'
}

# A run that was held, and looked at by both debuggers, leaves the same bytes as one that was not.
check_simulated_held()
{
	local vm=$sim_dir/vm out=$sim_dir/held run first second port
	mkdir -p "$sim_dir"
	echo driver_load >"$out.sh"
	sim_run held.first 1 "$out.sh" || { detail='the run that is not held'; cat "$sim_dir/held.first.txt"; return 1; }
	GDB=1 SERVE="--trace log,records,pcapng --stop-at 3200ms --fw-gdb 0" sim_run held.second 1 "$out.sh" &
	run=$!
	wait_until 600 grep -qs '^ *VM *held at 3200000.000000 us' "$sim_dir/held.second.txt" || { detail='it is not held'; kill $run; wait $run; return 1; }
	port=$(sed -n 's/^listening:.* gdb on port //p' "$vm/serve.log")
	first=$("$O/hcasim" ctl "$vm/sockets/ctl.sock" state)
	timeout 60 gdb-multiarch -nx -batch -ex "target remote :$port" -ex bt "$O/fw/hcasim-fw.elf" >"$out.firmware" 2>&1 </dev/null
	second=$("$O/hcasim" ctl "$vm/sockets/ctl.sock" state)
	timeout 60 gdb-multiarch -nx -batch -ex "set architecture $gdb_arch" -ex "target remote $vm/sockets/a.gdb" -ex "p/x \$$gdb_pc" -ex detach >"$out.guest" 2>&1 </dev/null
	wait $run || { detail='the run that was held'; cat "$sim_dir/held.second.txt"; return 1; }
	cat "$out.firmware" "$out.guest"
	grep -q '^#0 .* at .*fw/' "$out.firmware" && grep -q '= 0xffff[0-9a-f]*$' "$out.guest" || { detail='the debuggers'; return 1; }
	grep -q '"time_us": 3200000.000000, "held": true' <<<"$first" && [ "$first" = "$second" ] || { detail="ctl: $first, $second"; return 1; }
	detail=$(diff -rq "$sim_dir/held.first" "$sim_dir/held.second" | head -n 3)
	[ -z "$detail" ] && detail='held and looked at, and still the same bytes'
}

# Boots and ends: nothing hangs.
check_simulated_boots()
{
	local n boots=${BOOTS:-20} sums=$sim_dir/boots.txt
	mkdir -p "$sim_dir"; : >"$sums"
	printf 'modprobe mlx4_core\n' >"$sim_dir/boot.sh"
	for ((n = 1; n <= boots; n++)); do
		SIM_LIMIT=600 sim_run boot 1 "$sim_dir/boot.sh" || { detail="boot $n of $boots: status $?"; cat "$sim_dir/boot.txt"; return 1; }
		cat "$sim_dir"/boot/{stats.json,run.log,a.serial} | md5sum >>"$sums"
	done
	cat "$sums"
	[ "$(sort -u "$sums" | wc -l)" -eq 1 ] || { detail="$boots boots are not all equal"; return 1; }
	detail="$boots boots and ends, all equal"
}
