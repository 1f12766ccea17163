#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command in a root folder made of layers, in its own mount namespace. Needs root.
#   in_layers.sh SET:SET:... COMMAND...   the first set is the top layer and receives all writes, the last one is at the bottom
# A set is a folder with `root`: the files that it adds to the sets below. The lowest set is a complete root. LISTS: a folder for apt's lists and
# cache, which are not kept in any set. OUTSIDE=1: a command of this machine, which starts in that root's folder.
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
		# this file system cannot be the top layer (another overlay, for example): use memory for it
		mkdir "$scratch/memory"
		upper=$scratch/memory/up
		if mount -t tmpfs memory "$scratch/memory" && mkdir "$upper" "$scratch/memory/work" && cp -a "$top/." "$upper" &&
			mount -t overlay -o "$options,upperdir=$upper,workdir=$scratch/memory/work" overlay "$new"; then
			:
		else
			# no overlay at all: copy everything
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
if [ -n "${OUTSIDE:-}" ]; then (cd "$new" && "$@") || status=$?; else chroot "$new" "$@" || status=$?; fi
if [ -n "${upper:-}" ]; then
	rm -rf "$top.part"
	cp -a "$upper" "$top.part"
	rm -rf "$top"
	mv "$top.part" "$top"
fi
if [ -n "${scratch:-}" ]; then
	# what cannot be unmounted disappears with the namespace; nothing is deleted through such a mount
	umount -R "$new" 2>/dev/null && { [ -z "${upper:-}" ] || umount "$scratch/memory"; } && rm -rf --one-file-system "$scratch" || true
fi
exit $status
