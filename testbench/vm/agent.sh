#!/bin/bash
# Process 1 of a guest: runs what the host asks for over the second serial line, one word and its arguments a line:
#   run ID SECONDS   /share/cmd/ID in the background, output to /share/out/ID; answers "done ID STATUS" and leaves STATUS in /share/done/ID
#                    (124: out of time). 0 seconds: no limit
#   end ID           ends it, as when its time is out
#   state NAME WORD...   leaves in /share/kernel/NAME what the kernel's tasks wait for (kernel_watch.sh), and why it was asked for
#   off              powers off
# HCASIM_GUEST on the kernel's command line is this guest's letter.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=${TERM:-linux} LC_ALL=C.UTF-8
GUEST=${HCASIM_GUEST:-a}
export GUEST
# the mounts and links that systemd and udev would make; a kernel may lack one of them
mkdir -p /dev/pts /dev/shm /dev/hugepages /dev/mqueue
mount -t devpts devpts /dev/pts; mount -t tmpfs shm /dev/shm; mount -t tmpfs run /run; mount -t tmpfs tmp /tmp
ln -sfn /proc/self/fd /dev/fd
for n in 0:stdin 1:stdout 2:stderr; do ln -sfn /proc/self/fd/${n%:*} /dev/${n#*:}; done
# nodes at which the kernel loads a module when they are opened, such as /dev/loop-control
kmod static-nodes --format=tmpfiles 2>/dev/null | while read -r type path mode _ _ _ number; do
	mkdir -p "${path%/*}"
	[ -e "$path" ] || [ "$type" = d ] || mknod -m "$mode" "$path" "${type%!}" "${number%:*}" "${number#*:}"
done
modprobe -q configfs
while read -r type where; do
	[ -d "$where" ] && ! grep -q " $where " /proc/mounts && mount -t "$type" "$type" "$where" 2>/dev/null
done <<END
debugfs /sys/kernel/debug
tracefs /sys/kernel/tracing
configfs /sys/kernel/config
securityfs /sys/kernel/security
cgroup2 /sys/fs/cgroup
bpf /sys/fs/bpf
hugetlbfs /dev/hugepages
mqueue /dev/mqueue
END
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

control=/dev/ttyS1
stty -F $control raw -echo
exec 7<>$control

# finish ID STATUS: who comes first says that the command is over
finish()
{
	local status
	mkdir "/run/command/$1.over" 2>/dev/null || return
	status=$(cat "/run/command/$1.ended" 2>/dev/null) || status=$2
	echo "$status" >"/share/done/.$1"; mv "/share/done/.$1" "/share/done/$1"
	echo "done $1 $status" >&7
}

# end_command ID PID STATUS: a task that waits in the kernel may never end
end_command()
{
	echo "$3" >"/run/command/$1.ended"
	kill -TERM -- "-$2"
	wait_quietly 5
	kill -KILL -- "-$2" 2>/dev/null
	wait_quietly 2
	finish "$1" "$3"
}

# wait_quietly SECONDS: without a process of its own, so that who waits ends whole
wait_quietly()
{
	local nothing
	exec 6<> <(:)
	read -r -t "$1" -u 6 nothing
}

# limit ID PID SECONDS: what the command waits for is noted while it still does
limit()
{
	wait_quietly "$3"
	kernel_state "$GUEST.timeout.$1" "the command is not done after $3 s" "$2"
	end_command "$1" "$2" 124
}

# drained PID: waits until who copies a pipe has got all that is in it, and sleeps for more
drained()
{
	local tries=40
	until grep -qs pipe_ "/proc/$1/wchan" || [ ! -e "/proc/$1" ] || [ $tries -eq 0 ]; do
		tries=$((tries - 1))
		wait_quietly 0.05
	done
}

# Output goes through a pipe: a file that a script opens as /dev/stderr would lose what it has.
run()
{
	local id=$1 seconds=$2 pid limit= pipe=/run/command/$1.pipe copy
	# a number may come again
	rm -rf "/run/command/$id" "/run/command/$id".*
	mkfifo "$pipe"
	cat <"$pipe" >>"/share/out/$id" &
	copy=$!
	# programs write whole lines even into a pipe, so that none is lost when they are killed
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
# commands: the sessions of those that are not over
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
	# a shell on the console; its end is the machine's
	(cd /root; setsid -c bash -l </dev/ttyS0 >/dev/ttyS0 2>&1; echo o >/proc/sysrq-trigger) &
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
