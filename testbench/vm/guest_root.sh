# SPDX-License-Identifier: Apache-2.0
# Gives a guest's root the mounts, links and device nodes that systemd and udev would make; a kernel may lack one of them. Sourced by process 1.
mkdir -p /dev/pts /dev/shm /dev/hugepages /dev/mqueue
mount -t devpts devpts /dev/pts; mount -t tmpfs shm /dev/shm; mount -t tmpfs run /run; mount -t tmpfs tmp /tmp
ln -sfn /proc/self/fd /dev/fd
# serial lines have other names on other machines; here they are /dev/line0, the console, /dev/line1 ...
n=0
for line in ${HCASIM_LINES//,/ }; do
	ln -sfn "$line" /dev/line$n
	n=$((n + 1))
done
for n in 0:stdin 1:stdout 2:stderr; do ln -sfn /proc/self/fd/${n%:*} /dev/${n#*:}; done
# device nodes that make the kernel load a module when they are opened, such as /dev/loop-control
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
