# SPDX-License-Identifier: Apache-2.0
# Watches a guest's kernel log. Records each complaint at once, with the stacks of the tasks that wait. Sourced by the agent.
#
#   /share/kernel/GUEST.N          the complaint: the kernel's words, then the state
#   /share/kernel/GUEST.command.N  a command of the driver ran out of time. That is no complaint of the kernel, but the device's state is wanted
#   /share/kernel/GUEST.timeout.ID the state when a command ran out of time
#
# A file gets its name when it is complete. Before that NAME.first holds the first line; the host saves the device's state when it sees it.

# seconds after which the kernel calls an uninterruptible task hung; its default is 120
HUNG_TASK_SECONDS=60
# further complaints are only counted, and further commands that ran out of time are left out
KERNEL_COMPLAINTS=16

kernel_words='\] (WARNING|BUG): |kernel BUG at|Oops|general protection fault|NULL pointer dereference|[Uu]nable to handle'
kernel_words="$kernel_words|blocked for more than|soft lockup|hard LOCKUP|rcu.*(self-)?detected stall|suspicious RCU usage"
kernel_words="$kernel_words|possible (circular|recursive|irq) |inconsistent lock state|held lock freed|lock held when returning"
kernel_words="$kernel_words|KASAN|KCSAN|UBSAN|KFENCE|ODEBUG|DMA-API: .*: device driver|refcount_t: |list_(add|del) corruption"
kernel_words="$kernel_words|Bad page state|sleeping function called|scheduling while atomic|nobody cared|kmemleak: [1-9]"
kernel_words="$kernel_words|unregister_netdevice: waiting|page allocation (failure|stalls)|Kernel panic"

driver_words='mlx4_core .*(timed out|failed to generate MSI-X|Internal error detected)'
DRIVER_TIMEOUTS=4

# no complaint about a device: Linux 6.1 built with FORTIFY_SOURCE warns once that rdmavt copies a work request's tail as if it were one field
kernel_known='WARNING: .* at drivers/infiniband/sw/rdmavt/qp.c:[0-9]+ rvt_post_send'

# task_tell PID: prints a task's name, state and stack
task_tell()
{
	local name state
	name=$(cat "/proc/$1/comm" 2>/dev/null) || return
	state=$(sed -n 's/^State:\t//p' "/proc/$1/status" 2>/dev/null)
	echo "task $name pid $1 state $state: $(tr '\0' ' ' <"/proc/$1/cmdline" | cut -c1-200)"
	sed 's/^/    /' "/proc/$1/stack" 2>/dev/null
}

# kernel_tasks [SESSION...]: prints all uninterruptible tasks, and all tasks of these sessions
kernel_tasks()
{
	local pid state
	while read -r pid state; do
		task_tell "$pid"
	done < <(ps -eLo lwp=,stat=,sess= | awk -v sessions=" $* " '$2 ~ /^D/ || index(sessions, " " $3 " ") { print $1, $2 }')
}

# kernel_state NAME REASON [SESSION...]: writes the reason, the new part of the kernel's log, and the tasks
kernel_state()
{
	local name=$1 reason=$2 to=/share/kernel/$1; shift 2
	echo "$reason" >"$to.first"
	{
		echo "$reason"
		dmesg | LINE=$reason awk '$0 == ENVIRON["LINE"] { n = 100; next } n-- > 0'
		echo "uptime $(cut -d ' ' -f 1 /proc/uptime) s; tasks that cannot be interrupted${1:+, and those of the command}:"
		kernel_tasks "$@"
		echo "blocked tasks as the kernel shows them:"
		echo "sysrq-w for $name" >/dev/kmsg
		echo w >/proc/sysrq-trigger
		dmesg | sed "1,/sysrq-w for $name\$/d"
	} >"$to.part" 2>&1
	rm "$to.first"
	mv "$to.part" "$to"
}

# Records what a driver says about commands that take too long.
driver_watch()
{
	local n=0 line
	dmesg --follow | grep --line-buffered -E "$driver_words" | while read -r line; do
		n=$((n + 1))
		[ $n -gt $DRIVER_TIMEOUTS ] || kernel_state "$GUEST.command.$n" "$line"
	done
}

# One complaint has several lines, and some look like complaints themselves. So lines within two seconds are one complaint.
kernel_watch()
{
	local n=0 last=-9 line second
	echo $HUNG_TASK_SECONDS >/proc/sys/kernel/hung_task_timeout_secs 2>/dev/null
	driver_watch &
	while [ -e "/share/kernel/$GUEST.$((n + 1))" ]; do n=$((n + 1)); done
	dmesg --follow | grep --line-buffered -E "$kernel_words" | grep --line-buffered -vE "$kernel_known" | while read -r line; do
		second=$(sed -n 's/^\[ *\([0-9]*\)\..*/\1/p' <<<"$line")
		[ $((${second:-0} - last)) -ge 2 ] || continue
		last=${second:-0} n=$((n + 1))
		[ $n -gt $KERNEL_COMPLAINTS ] || kernel_state "$GUEST.$n" "$line"
		echo $n >"/share/kernel/$GUEST.count"
	done
}
