#!/bin/bash
# Process 1 of a guest: runs what the host asks for over the second serial line, one word and its arguments a line:
#   run ID SECONDS   /share/cmd/ID in the background, output to /share/out/ID; answers "done ID STATUS" (124: out of time)
#   off              powers off
# HCASIM_GUEST on the kernel's command line is this guest's letter.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=${TERM:-linux} LC_ALL=C.UTF-8
GUEST=${HCASIM_GUEST:-a}
export GUEST
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts; mount -t tmpfs shm /dev/shm; mount -t tmpfs run /run; mount -t tmpfs tmp /tmp
hostname "$GUEST"
printf '127.0.0.1 localhost\n10.77.0.1 a\n10.77.0.2 b\n' >/etc/hosts
ip link set lo up
case $GUEST in a) host=1 ;; *) host=2 ;; esac
ip addr add 10.77.0.$host/24 dev eth0; ip link set eth0 up
ulimit -l unlimited
[ -d /share/overlay ] && cp -a /share/overlay/. /

control=/dev/ttyS1
stty -F $control raw -echo
exec 7<>$control
run()
{
	local status
	timeout -k 5 "$2" bash "/share/cmd/$1" >"/share/out/$1" 2>&1 </dev/null
	status=$?
	echo "done $1 $status" >&7
}

if [ -e /share/interactive ]; then
	echo '. /share/guest_lib.sh' >>/root/.bashrc
	busybox telnetd -l /bin/bash
	# a shell on the console; its end is the machine's
	(cd /root; setsid -c bash -l </dev/ttyS0 >/dev/ttyS0 2>&1; echo o >/proc/sysrq-trigger) &
fi
echo "up $(uname -r)" >&7
while read -r word id seconds <&7; do
	case $word in
	run) run "$id" "$seconds" 7>&7 & ;;
	off) sync; busybox poweroff -f ;;
	esac
done
