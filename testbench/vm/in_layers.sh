#!/usr/bin/env bash
# Runs a command in the root that folders make together, in a mount namespace of its own, which needs the rights of root.
#   in_layers.sh SET:SET:... COMMAND...   the first set is at the top and takes what is written, the last one is at the bottom
# A set is a folder with `root`, what it adds to the sets under it; the lowest one's is a whole root. LISTS: a folder with lists and cache of apt,
# which no set keeps.
set -euo pipefail
if [ "${1:-}" != --mounted ]; then
	exec unshare --mount --propagation private "$0" --mounted "$@"
fi
IFS=: read -r -a sets <<<"$2"
shift 2
top=${sets[0]}/root
if [ ${#sets[@]} -eq 1 ] || [ -e "${sets[0]}/whole" ]; then
	new=$top
else
	lower=
	for set in "${sets[@]:1}"; do
		lower=${lower:+$lower:}$set/root
		[ ! -e "$set/whole" ] || break
	done
	scratch=${sets[0]}/scratch
	mkdir -p "$scratch/new" "$scratch/work"
	options=redirect_dir=off,index=off,metacopy=off,lowerdir=$lower
	new=$scratch/new upper=
	if ! mount -t overlay -o "$options,upperdir=$top,workdir=$scratch/work" overlay "$new" 2>/dev/null; then
		# a file system that cannot be on top, such as another overlay's: the top is in memory meanwhile
		mkdir "$scratch/memory"
		upper=$scratch/memory/up
		if mount -t tmpfs memory "$scratch/memory" && mkdir "$upper" "$scratch/memory/work" && cp -a "$top/." "$upper" &&
			mount -t overlay -o "$options,upperdir=$upper,workdir=$scratch/memory/work" overlay "$new"; then
			:
		else
			# no overlay at all: a copy of everything
			upper= new=$top
			umount "$scratch/memory" 2>/dev/null || true
			for ((i = ${#sets[@]} - 1; i > 0; i--)); do cp -a --reflink=auto "${sets[i]}/root/." "$top"; done
			touch "${sets[0]}/whole"
		fi
	fi
fi
mount -t proc proc "$new/proc"
if [ -n "${LISTS:-}" ]; then
	mkdir -p "$LISTS/lists/partial" "$LISTS/cache/archives/partial" "$new/var/lib/apt/lists" "$new/var/cache/apt"
	mount --bind "$LISTS/lists" "$new/var/lib/apt/lists"
	mount --bind "$LISTS/cache" "$new/var/cache/apt"
fi
status=0
chroot "$new" "$@" || status=$?
if [ -n "${upper:-}" ]; then
	rm -rf "$top.part"
	cp -a "$upper" "$top.part"
	rm -rf "$top"
	mv "$top.part" "$top"
fi
if [ -n "${scratch:-}" ]; then
	# what cannot be unmounted goes with the namespace; nothing is removed through it
	umount -R "$new" 2>/dev/null && { [ -z "${upper:-}" ] || umount "$scratch/memory"; } && rm -rf --one-file-system "$scratch" || true
fi
exit $status
