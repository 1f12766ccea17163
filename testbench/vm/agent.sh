#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Process 1 of a guest. It obeys the host, which sends one command per line over the second serial line:
#   run ID SECONDS   run /share/cmd/ID in the background with its output in /share/out/ID; 0 seconds: no limit. At the end answer
#                    "done ID STATUS" and write STATUS to /share/done/ID (124: out of time)
#   end ID           end it as if its time were over
#   state NAME WORD...   write to /share/kernel/NAME what the kernel's tasks wait for (kernel_watch.sh), and the words
#   off              power off
# HCASIM_GUEST on the kernel's command line is this guest's letter.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=${TERM:-linux} LC_ALL=C.UTF-8
GUEST=${HCASIM_GUEST:-a}
export GUEST
. /share/guest_root.sh
hostname "$GUEST"
printf '127.0.0.1 localhost\n10.77.0.1 a\n10.77.0.2 b\n' >/etc/hosts
ip link set lo up
case $GUEST in a) host=1 ;; *) host=2 ;; esac
ip addr add 10.77.0.$host/24 dev eth0; ip link set eth0 up
ulimit -l unlimited
[ -d /share/overlay ] && cp -a /share/overlay/. /
mkdir /run/command
. /share/kernel_watch.sh
kernel_watch 8>&- &

control=/dev/line1
stty -F $control raw -echo
exec 7<>$control

# finish ID STATUS: reports the end of a command; only the first call for an ID counts
finish()
{
	local status
	mkdir "/run/command/$1.over" 2>/dev/null || return
	status=$(cat "/run/command/$1.ended" 2>/dev/null) || status=$2
	echo "$status" >"/share/done/.$1"; mv "/share/done/.$1" "/share/done/$1"
	echo "done $1 $status" >&7
}

# end_command ID PID STATUS: kills it, and reports the end even if a task hangs in the kernel for ever
end_command()
{
	echo "$3" >"/run/command/$1.ended"
	kill -TERM -- "-$2"
	wait_quietly 5
	kill -KILL -- "-$2" 2>/dev/null
	wait_quietly 2
	finish "$1" "$3"
}

# wait_quietly SECONDS: sleeps without a child process, so that killing the waiter leaves nothing behind
wait_quietly()
{
	local nothing
	exec 6<> <(:)
	read -r -t "$1" -u 6 nothing
}

# limit ID PID SECONDS: records what the command waits for while it is still waiting, then ends it
limit()
{
	wait_quietly "$3"
	kernel_state "$GUEST.timeout.$1" "the command is not done after $3 s" "$2"
	end_command "$1" "$2" 124
}

# drained PID: waits until the process that copies a pipe has read everything and sleeps
drained()
{
	local tries=40
	until grep -qs pipe_ "/proc/$1/wchan" || [ ! -e "/proc/$1" ] || [ $tries -eq 0 ]; do
		tries=$((tries - 1))
		wait_quietly 0.05
	done
}

# Output goes through a pipe: if it were a file, a script that opens /dev/stderr would truncate it.
run()
{
	local id=$1 seconds=$2 pid limit= pipe=/run/command/$1.pipe copy
	# an ID may be used again
	rm -rf "/run/command/$id" "/run/command/$id".*
	mkfifo "$pipe"
	cat <"$pipe" >>"/share/out/$id" &
	copy=$!
	# make programs write whole lines even into a pipe, so that nothing is lost when they are killed
	LD_PRELOAD=$line_buffered _STDBUF_O=L PYTHONUNBUFFERED=1 \
		setsid bash "/share/cmd/$id" >"$pipe" 2>&1 </dev/null 7>&- &
	pid=$!
	echo $pid >"/run/command/$id"
	[ "$seconds" -eq 0 ] || { limit "$id" $pid "$seconds" & limit=$!; }
	wait $pid 2>/dev/null
	set -- $?
	drained $copy
	finish "$id" "$1"
	[ -z "$limit" ] || [ -e "/run/command/$id.ended" ] || kill $limit 2>/dev/null
}
# commands: prints the sessions of the running commands
commands()
{
	local f
	for f in /run/command/*.[ab]; do
		[ ! -e "$f" ] || [ -e "$f.over" ] || cat "$f"
	done
}
line_buffered=/usr/libexec/coreutils/libstdbuf.so
[ -e $line_buffered ] || line_buffered=

if [ -e /share/interactive ]; then
	echo '. /share/guest_lib.sh' >>/root/.bashrc
	busybox telnetd -l /bin/bash
	# a shell on the console; when it ends, the machine powers off
	(cd /root; setsid -c bash -l </dev/line0 >/dev/line0 2>&1; echo o >/proc/sysrq-trigger) &
fi
echo "up $(uname -r)" >&7
while read -r word id rest <&7; do
	case $word in
	run) run "$id" "$rest" & ;;
	end) pid=$(cat "/run/command/$id") && end_command "$id" "$pid" 143 & ;;
	state) kernel_state "$id" "$rest" $(commands) & ;;
	off) sync; busybox poweroff -f ;;
	esac
done
