# SPDX-License-Identifier: Apache-2.0
# Functions and variables for a script in a guest. The agent sources this file before each script.
#   GUEST      this guest's letter; /share is the folder all guests and the host see
#   barrier X [SECONDS]   waits until every guest has reached the barrier

. /share/kernel_watch.sh

barrier()
{
	[ -z "${HCASIM_LIMIT:-}" ] || { barrier_by_note "$@"; return; }
	local limit=$(($(date +%s) + ${2:-120})) g
	: >"/share/sync/$1.$GUEST"
	for g in $(cat /share/guests); do
		until [ -e "/share/sync/$1.$g" ]; do
			[ "$(date +%s)" -lt $limit ] || { echo "barrier $1: no guest $g" >&2; return 1; }
			sleep 0.2
		done
	done
}

# barrier_by_note NAME [SECONDS]: the same in simulated time, without a shared folder. The last bytes of a device's configuration space are a note to
# the other guest (model/vfio_user/guest_clock.h): how many barriers this guest has come to, and a sum of the last one's name.
barrier_by_note()
{
	local limit=$(($(date +%s) + ${2:-120})) at=$((4096 - 16)) config mine sum other
	[ "$(wc -l </share/guests)" -gt 1 ] || return 0
	config=$(grep -lE '0x(15b3|1fc1)' /sys/bus/pci/devices/*/vendor | head -n 1)
	config=${config%vendor}config
	mine=$(($(cat /run/barriers 2>/dev/null) + 1))
	echo $mine >/run/barriers
	sum=$(cksum <<<"$1"); sum=${sum%% *}
	printf "$(printf '\\x%02x' $((mine & 255)) $((mine >> 8)) 0 0 $((sum & 255)) $((sum >> 8 & 255)) $((sum >> 16 & 255)) $((sum >> 24)))" |
		dd of="$config" bs=8 seek=$((at / 8)) conv=notrunc status=none || return
	until other=($(od -An -tu4 -j $at -N 8 "$config")) && [ "${other[0]}" -ge $mine ]; do
		[ "$(date +%s)" -lt $limit ] || { echo "barrier $1: the other guest has not come" >&2; return 1; }
		sleep 0.01
	done
	[ "${other[0]}" -gt $mine ] || [ "${other[1]}" = "$sum" ] || { echo "barrier $1: the other guest is at another barrier" >&2; return 1; }
}

# listening PORT [SECONDS]: waits for a TCP server in this guest
listening()
{
	local limit=$(($(date +%s) + ${2:-20})) port
	port=$(printf ':%04X 0' "$1")
	until grep -q "$port.* 0A " /proc/net/tcp /proc/net/tcp6 2>/dev/null; do
		[ "$(date +%s)" -lt $limit ] || { echo "nothing listens on port $1" >&2; return 1; }
		sleep 0.1
	done
}

# cm_listening [SECONDS]: waits until a program in this guest listens through the RDMA connection manager
cm_listening()
{
	local limit=$(($(date +%s) + ${1:-20}))
	until rdma resource show cm_id | grep -q 'state LISTEN'; do
		[ "$(date +%s)" -lt $limit ] || { echo "nothing listens through the connection manager" >&2; return 1; }
		sleep 0.1
	done
}

# watching PROGRAM [SECONDS]: waits until the program in this guest can take asynchronous events of a device
watching()
{
	local limit=$(($(date +%s) + ${2:-20}))
	until ls -l /proc/"$(pgrep -n "$1")"/fd 2>/dev/null | grep -q infinibandevent; do
		[ "$(date +%s)" -lt $limit ] || { echo "$1 has no event file of a device" >&2; return 1; }
		sleep 0.1
	done
}

# port_states: the port states of /sys, such as 4: ACTIVE
port_states() { cat /sys/class/infiniband/*/ports/*/state; }

# ports_are N: waits until every port's state is N: 2 INIT, 4 ACTIVE
ports_are()
{
	local limit=$(($(date +%s) + ${2:-60}))
	until [ "$(port_states | cut -d: -f1 | sort -u)" = "$1" ]; do
		[ "$(date +%s)" -lt $limit ] || { port_states >&2; return 1; }
		sleep 0.5
	done
}

# gid_index v1|v2 INTERFACE PATTERN: prints the index of the first device's GID of this version of RoCE that the interface has; its text matches the pattern
gid_index()
{
	local port type='IB/RoCE v1' i
	port=$(ls -d /sys/class/infiniband/*/ports/1 | head -n 1)
	[ "$1" = v1 ] || type='RoCE v2'
	for i in $(ls "$port/gids" | sort -n); do
		[ "$(cat "$port/gid_attrs/ndevs/$i" 2>/dev/null)" = "$2" ] && [ "$(cat "$port/gid_attrs/types/$i")" = "$type" ] || continue
		grep -q -- "$3" "$port/gids/$i" && echo "$i" && return
	done
	echo "no GID of RoCE $1 like $3 on $2" >&2
	return 1
}

# driver_load: loads the drivers of the devices that this guest has
driver_load()
{
	if grep -q 0x15b3 /sys/bus/pci/devices/*/vendor; then modprobe mlx4_core && modprobe mlx4_ib || return; fi
	if grep -q 0x1fc1 /sys/bus/pci/devices/*/vendor; then modprobe ib_qib || return; fi
	modprobe -a ib_uverbs ib_umad
}

# driver_complaints: prints kernel messages that a healthy device does not cause
driver_complaints()
{
	# ib_qib says these two to every slot without error reporting, and to every emulated processor
	dmesg --level=emerg,alert,crit,err,warn | grep -E 'mlx4|ib_|nfini[Bb]and|WARNING|BUG:|Oops|Call Trace|nobody cared|tainted' |
		grep -vE 'ib_qib .*(Unable to enable pcie error reporting|bandwidth to PIO buffers is only)'
}

# cmtime_server: runs for ever
cmtime_server()
{
	cmtime -b 10.78.0.1 -c 20 &
	until [ -e /share/cmtime.done ]; do sleep 0.2; done
	kill -0 $! && kill $!
}

# phase NAME: a part of the script begins. With TIME=simulated the end of the run says how long each part took
phase() { [ -z "${HCASIM_LIMIT:-}" ] || printf '%s %s\n' "$1" "$(cut -d ' ' -f 1 /proc/uptime)" >/dev/line3; }
