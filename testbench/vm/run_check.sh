# SPDX-License-Identifier: Apache-2.0
# The check `run` of make vm-test: make vm-run and make vm-exec do what their documentation says. Sourced by test.sh. It uses one guest without a
# device, in its own folder. The command is an array and not a function, so that the background process is the script itself and gets the signals.
run_apart=(setpriv --pdeathsig TERM env VM_DIR="$VM_DIR/run" GUESTS=1 NO_DEVICE=1 MEM=512M PACKAGES=)

# run_until SECONDS PATTERN FILE: waits for a line
run_until()
{
	wait_until "$1" grep -qE -- "$2" "$3" || { detail="no '$2' within $1 s"; cat "$3"; return 1; }
}

# Arguments, environment, live output, make vm-exec with its status and timeout, a kernel complaint, the exit status.
run_check_status()
{
	local out=$VM_DIR/run.out script=$VM_DIR/run.sh
	cat >"$script" <<-'END'
		echo "arguments $# <$1> <$2> environment <$A> <$B>"
		cat < <(echo "descriptors") >/dev/stderr
		for f in debugfs tracefs configfs; do grep -q " $f " /proc/mounts || echo "no $f"; done
		python3 -c 'print("a line of a program"); import time; time.sleep(1000)' &
		until [ -e /share/go ]; do sleep 0.2; done
		echo '<4>WARNING: a line that only a kernel in trouble writes' >/dev/kmsg
		until [ -e "/share/kernel/$GUEST.1" ]; do sleep 0.2; done
		kill $!; printf 'no end of line'
		exit 3
	END
	ENV="A=1 B='x  y'" "${run_apart[@]}" "$vm_src/run.sh" "$script" 'first one' '$2' >"$out" 2>&1 &
	run_pid=$!
	run_until "$GUEST_WAIT" 'a line of a program' "$out" || return
	grep -q 'arguments 2 <first one> <$2> environment <1> <x  y>' "$out" && grep -q '^descriptors' "$out" && ! grep '^no ' "$out" ||
		{ detail='arguments, environment, /dev/fd or mounts'; cat "$out"; return 1; }
	"${run_apart[@]}" "$vm_src/exec.sh" a 'echo "in $GUEST"; exit 7' >"$out.exec" 2>&1
	[ $? -eq 7 ] && grep -q 'in a' "$out.exec" || { detail='vm-exec: output or status'; cat "$out.exec"; return 1; }
	TIMEOUT=1 "${run_apart[@]}" "$vm_src/exec.sh" a 'python3 -c "print(\"before\"); import time; time.sleep(1000)"' >"$out.exec" 2>&1
	[ $? -eq 124 ] && grep -q 'before' "$out.exec" || { detail='vm-exec: time-out'; cat "$out.exec"; return 1; }
	touch "$VM_DIR/run/share/go"
	wait $run_pid
	set -- $?
	cat "$out"
	[ "$1" -eq 3 ] || { detail="status $1, 3 was the script's"; return 1; }
	grep -q 'no end of line' "$out" && grep -q '^kernel errors: 1' "$out" ||
		{ detail='the end of the output, or the kernel report'; return 1; }
}

# An uninterruptible task and a signal from outside: the output is kept, and the report says what the task waits for.
run_check_signal()
{
	local out=$VM_DIR/run.out script=$VM_DIR/run.sh
	cat >"$script" <<-'END'
		echo 2 >/proc/sys/kernel/hung_task_timeout_secs
		dd if=/dev/zero of=/tmp/image bs=1M count=16 status=none; mke2fs -qF /tmp/image; mkdir -p /mnt; mount -o loop /tmp/image /mnt || exit 1
		fsfreeze -f /mnt
		echo frozen
		touch /mnt/for_ever
	END
	"${run_apart[@]}" "$vm_src/run.sh" "$script" >"$out" 2>&1 &
	run_pid=$!
	run_until "$GUEST_WAIT" '^frozen' "$out" && wait_until 60 test -e "$VM_DIR/run/share/kernel/a.1" || { detail="${detail:-no hung task}"; cat "$out"; return 1; }
	kill -TERM $run_pid
	wait $run_pid
	set -- $?
	cat "$out"
	[ "$1" -eq 143 ] || { detail="status $1 after SIGTERM"; return 1; }
	grep -q 'INFO: task touch.* blocked for more than' "$out" && grep -q 'percpu_rwsem_wait\|__percpu_down_read\|mnt_want_write' "$out" ||
		{ detail='no hung task, or not its stack, in the report'; return 1; }
}

check_run()
{
	run_pid=
	if run_check_status && run_check_signal; then
		detail='arguments, output, status, signals, kernel report'
		return
	fi
	# a failed run may still have its guest
	kill "$run_pid" 2>/dev/null && wait "$run_pid"
	return 1
}
