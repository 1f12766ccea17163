# SPDX-License-Identifier: Apache-2.0
# The report about guests in trouble: what their kernels complained about, what their tasks waited for, and the state of the device. Sourced by
# guests.sh.
#
#   trouble WORD...        saves the state of every guest and of the device; WORD... is the reason
#   kernel_report [NAME...]   prints what was recorded; returns 1 if a kernel complained. The guests NAME should still be running or have been powered off
#
# The guests write to $share/kernel (kernel_watch.sh). At the end all of it is in $VM_DIR/kernel, with the device's state NAME.device beside NAME.

# device_waits: prints what the devices and the drivers wait for, a line each
device_waits() { ctl dump >/dev/null && sed -E '1d; / (qpc|cqc|eqc|srqc|mpt) 0x/,$d' "$serve_out/contexts.txt"; }

# device_state FILE
device_state()
{
	{
		ctl state
		ctl stuck
		ctl counters
		ctl dump && cat "$VM_DIR/serve/contexts.txt"
	} >"$1.part" 2>&1
	device_waits >"$1.waits" 2>&1
	mv "$1.part" "$1"
}

# device_watch: saves the device's state as soon as a guest records something. Runs for ever
device_watch()
{
	local file to
	while :; do
		for file in "$share"/kernel/*.first "$share"/kernel/*[0-9]; do
			to=$VM_DIR/kernel/$(basename "$file" .first).device
			[ ! -e "$file" ] || [ -n "${NO_DEVICE:-}" ] || [ -e "$to" ] || device_state "$to"
		done
		quietly_wait 0.2
	done
}

trouble()
{
	local name left=50
	for name in "${!guest_pid[@]}"; do
		guest_alive "$name" && printf 'state %s %s\n' "$name.end" "$*" >&"${guest_in[$name]}"
	done
	[ -z "$serve_pid" ] || device_state "$VM_DIR/kernel/end.device"
	for name in "${!guest_pid[@]}"; do
		while guest_alive "$name" && [ ! -e "$share/kernel/$name.end" ] && [ $left -gt 0 ]; do
			left=$((left - 1))
			quietly_wait 0.1
		done
	done
}

# last_words NAME: prints a guest's console from the message about the kernel's crash
last_words() { cat "$VM_DIR/$1.serial" 2>/dev/null | tr -d '\r\0' | awk '/BUG:|Oops|Kernel panic|general protection/ { n = 100 } n-- > 0'; }

kernel_report()
{
	local file name words complaints=0 told=
	for name in "$@"; do
		words=$(last_words "$name")
		[ -z "$words" ] || told+="  guest $name, the last words of its console:"$'\n'$(sed 's/^/    /' <<<"$words")$'\n'
	done
	for file in "$share"/kernel/*; do
		[ -f "$file" ] || continue
		name=$(basename "$file")
		cp "$file" "$VM_DIR/kernel/"
		case $name in
		*.count) complaints=$((complaints + $(cat "$file"))); continue ;;
		esac
		told+="  guest ${name%%.*}: $(head -n 1 "$file")"$'\n'$(tail -n +2 "$file" | sed 's/^/    /')$'\n'
		name=${name%.first}
		case $name in *.end) name=end ;; esac
		[ -e "$VM_DIR/kernel/$name.device" ] || continue
		told+="    what waited for the device, or for the driver:"$'\n'$(sed 's/^/      /' "$VM_DIR/kernel/$name.device.waits")$'\n'
		told+="    all of the device then: $VM_DIR/kernel/$name.device"$'\n'
	done
	[ $complaints -gt 0 ] || [ -z "${words:-}" ] || complaints=1
	printf 'kernel errors: %d\n%s' $complaints "$told"
	[ $complaints -eq 0 ]
}
