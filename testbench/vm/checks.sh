# The checks of make vm-test: functions named check_NAME, run by test.sh on guests that are up. Sourced by bash.
# A check writes what it did to its log (run), says why in $detail, and returns 0 pass, 77 skip, else fail.

# run GUEST SECONDS COMMAND: on, with command, output and status in the log
run()
{
	local status
	echo "$1# $3"
	on "$@"
	status=$?
	echo "$on_output"
	echo "[$1: status $status]"
	return $status
}

# must GUEST SECONDS COMMAND: run; a failure is the check's
must()
{
	run "$@" || { detail="guest $1: ${3%%$'\n'*}: ${on_output##*$'\n'}"; return 1; }
}

# said PATTERN WHAT: the last output has the pattern
said()
{
	grep -qE -- "$1" <<<"$on_output" || { detail="$2"; return 1; }
}

# probe: the unmodified modules find nothing to complain of
check_probe()
{
	local g t=$SECONDS
	for g in "${names[@]}"; do must "$g" 90 driver_load || return; done
	detail="loaded after $((SECONDS - t)) s"
	for g in "${names[@]}"; do
		run "$g" 20 driver_complaints
		[ -z "$on_output" ] || { detail="guest $g: ${on_output%%$'\n'*}"; return 1; }
		must "$g" 30 'lspci -vv -d 15b3:; ibv_devinfo -v' || return
		said 'transport:\s+InfiniBand' 'not an InfiniBand device' &&
			said 'node_guid:\s+[0-9a-f]{4}:[0-9a-f]{4}:[0-9a-f]{4}:[0-9a-f]{4}' 'no node GUID' &&
			said 'phys_port_cnt:\s+[12]' 'no port' && said 'max_mtu:\s+4096' 'no 4096-byte MTU' &&
			said 'state:\s+PORT_(INIT|ACTIVE)' 'port neither INIT nor ACTIVE: link down?' &&
			said 'max_qp:\s+[1-9]' 'no QPs' || return
		! grep -qE 'node_guid:\s+0000:0000:0000:0000' <<<"$on_output" || { detail='node GUID is zero'; return 1; }
	done
}

# opensm: a subnet manager in one guest finds both, gives LIDs, and brings the ports up
check_opensm()
{
	local g t=$SECONDS lids
	on_start a 3600 'exec opensm -f /share/out/opensm.log'
	for g in "${names[@]}"; do
		must "$g" 90 'ports_are 4 60; grep -H . /sys/class/infiniband/*/ports/*/{state,lid,sm_lid}; port_states | grep -q ACTIVE' || {
			tail -n 30 "$share/out/opensm.log"
			detail="guest $g: $(grep -o '[0-9]: [A-Z]*' <<<"$on_output" | sort -u | tr '\n' ' ')"
			return 1
		}
	done
	lids=$(for g in "${names[@]}"; do on "$g" 20 'cat /sys/class/infiniband/*/ports/*/lid'; echo "$on_output"; done | sort -u | wc -l)
	[ "$lids" -ge 2 ] || { detail='the ports do not have different LIDs'; return 1; }
	if grep -E ' ERR ' "$share/out/opensm.log"; then
		detail="opensm: $(grep -oE 'ERR .*' "$share/out/opensm.log" | head -n 1)"
		return 1
	fi
	detail="ACTIVE after $((SECONDS - t)) s"
}

# diags: the subnet's tools agree with each other
check_diags()
{
	local lid_a lid_b guid_b
	on a 20 'cat /sys/class/infiniband/mlx4_0/ports/1/lid'; lid_a=$((on_output))
	on b 20 'cat /sys/class/infiniband/mlx4_0/ports/1/lid'; lid_b=$((on_output))
	must b 20 ibstat || return
	said 'State: Active' 'ibstat: not Active' && said 'Physical state: LinkUp' 'ibstat: no LinkUp' &&
		said "Base lid: $lid_b\$" 'ibstat and sysfs differ in the LID' || return
	guid_b=$(awk '/Port GUID:/ { print substr($3, 3); exit }' <<<"$on_output")
	must a 30 ibnetdiscover || return
	said "lid $lid_b " "ibnetdiscover does not name LID $lid_b" && said "\\($guid_b\\)" "ibnetdiscover does not name port GUID $guid_b" || return
	must a 30 iblinkinfo || return
	said 'Active/ +LinkUp' 'iblinkinfo: no active link' || return
	must a 30 'ibhosts' || return
	[ "$(grep -c '^Ca' <<<"$on_output")" -eq 2 ] || { detail='ibhosts does not see two hosts'; return 1; }
	must a 30 "smpquery nodeinfo $lid_b; smpquery portinfo $lid_b 1" || return
	said "Lid:\\.+$lid_b\$" 'smpquery portinfo has another LID' && said "PortGuid:\\.+0x$guid_b" 'smpquery nodeinfo has another GUID' || return
	must a 30 "saquery PR --src-to-dst $lid_a:$lid_b" || return
	must a 30 "perfquery $lid_b 1" || return
	said 'PortXmitPkts:\.+[1-9]' 'perfquery: no packet counted' || return
	on_start b 60 'exec ibping -S'
	must a 40 "ibping -c 5 $lid_b" || return
	said ' 0% packet loss' 'ibping lost packets'
}

# pair NAME SECONDS SERVER CLIENT [PORT]: a server in one guest, a client in the other (in one guest when there is only one)
pair()
{
	local seconds=$1 server=$2 client=$3 port=${4:-18515} a=${names[0]} b=${names[-1]} id status
	on_start "$a" "$seconds" "exec $server"
	id=$on_id
	must "$a" 30 "listening $port" || { on_wait "$a" "$id"; echo "$on_output"; return 1; }
	must "$b" "$seconds" "$client"
	status=$?
	on_wait "$a" "$id"
	local server_status=$?
	printf '%s# %s\n%s\n[%s: status %s]\n' "$a" "$server" "$on_output" "$a" $server_status
	[ $status -eq 0 ] || return 1
	[ $server_status -eq 0 ] || { detail="server: $server: ${on_output##*$'\n'}"; return 1; }
}

# pingpong PROGRAM OPTIONS...: each row of options once, both sides alike
pingpong()
{
	local program=$1 row first=mlx4_0 last=mlx4_${last_device:-0} n=0; shift
	for row in "$@"; do
		pair 60 "$program -d $first $row" "$program -d $last $row ${names[0]}" || return
		n=$((n + 1))
	done
	detail="$n runs: $(grep -o '[0-9.]* usec/iter' <<<"$on_output" | head -n 1)"
}

check_rc_pingpong() { pingpong ibv_rc_pingpong "-c" "-e -c" "-s 1 -n 200 -c" "-s 65536 -m 4096 -n 100 -c" "-s 5000 -m 256 -n 200 -e -c" "-s 1048576 -m 2048 -n 10 -c"; }
check_uc_pingpong() { pingpong ibv_uc_pingpong "-c" "-e -c" "-s 65536 -m 4096 -n 100 -c" "-s 5000 -m 512 -n 200 -c"; }
check_ud_pingpong() { pingpong ibv_ud_pingpong "-c" "-e -c" "-s 1 -n 200 -c" "-s 2048 -n 200 -c"; }
check_srq_pingpong() { pingpong ibv_srq_pingpong "-c" "-e -c" "-q 4 -s 65536 -m 4096 -n 100 -c"; }
check_xsrq_pingpong() { pingpong ibv_xsrq_pingpong "" "-e" "-s 65536 -m 4096 -n 100"; }

# reload: unloading leaves nothing behind, and the device starts again, twice
check_reload()
{
	local n
	run a 10 'pkill opensm; pkill ibping; sleep 1'
	run b 10 'pkill ibping'
	for n in 1 2; do
		must b 90 'modprobe -r ib_umad mlx4_ib && modprobe -r mlx4_core && ! grep -q ^mlx4 /proc/modules' || return
		must b 90 'driver_load; ibv_devinfo' || return
		said 'state:\s+PORT_(INIT|ACTIVE)' 'port neither INIT nor ACTIVE after reload' || return
	done
	run b 20 driver_complaints
	[ -z "$on_output" ] || { detail="${on_output%%$'\n'*}"; return 1; }
	detail='twice'
}

# guest_errors: the unmodified driver broke no rule of the device
check_guest_errors()
{
	cat "$VM_DIR/serve.log"
	detail=$(grep -iE 'guest.error|rule|fault|fatal' "$VM_DIR/serve.log" | head -n 1)
	[ -z "$detail" ]
}

# capture: what the model wrote opens in tshark, and every CRC is right
check_capture()
{
	local file n bad total=0
	command -v tshark >/dev/null || { detail='no tshark'; return 77; }
	for file in "$VM_DIR"/serve/*.pcapng; do
		[ -e "$file" ] || { detail='serve wrote no capture'; return 77; }
		"$O/hcasim" check "$file" || { detail="hcasim check ${file##*/}"; return 1; }
		n=$(tshark -r "$file" 2>/dev/null | wc -l) || { detail='tshark does not read it'; return 1; }
		bad=$(tshark -r "$file" -Y '_ws.malformed || !infiniband' 2>/dev/null | head -n 5)
		[ -z "$bad" ] || { echo "$bad"; detail='packets without a name'; return 1; }
		total=$((total + n))
	done
	[ $total -gt 0 ] || { detail='no packet captured'; return 1; }
	detail="$total packets"
}
