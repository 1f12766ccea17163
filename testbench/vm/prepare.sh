#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes what the virtual machines need from Debian packages, in the cache and in build/vm. Installs nothing on this machine.
#   QEMU 11    a root of trixie with QEMU from its backports: bookworm's has no vfio-user-pci
#   guest      a root of bookworm with the RDMA programs, and Debian's kernel unpacked beside it; ARCH=arm64: see guest_packages.sh
#   set        the files that further packages add to the root; a guest lays sets over the root, and over each other
#   initrd     busybox and the modules that mount the root over 9p
# Does nothing when all of it exists. Exit status 77: impossible on this machine (no root, no mirror); stderr says why.
#
#   prepare.sh [PACKAGE... [+ PACKAGE...]]   makes a set, and one over it; prints settings for starting the guests
#   prepare.sh --build   makes sets with what builds modules for the guests' kernel on this machine; prints build_sets, and build_lists for in_layers.sh
#   prepare.sh --binutils   makes a set with binutils for files of the guests' architecture; prints binutils_sets
#   INITRD_MODULE=file           loaded by the initrd after its other modules
#   KERNEL=vmlinuz MODULES=dir   use these instead of Debian's; dir holds lib/modules/VERSION, or .ko files that replace those of Debian's kernel
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$vm_src/guest_packages.sh"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
log=$O/vm-prepare.log
mkdir -p "$cache" "$VM_DIR"
# only one at a time; the second one finds the work done
exec 8>"$cache/lock"
flock -w 1800 8 || skip "another run has been making things in $cache for half an hour"

# bounded COMMAND...: with a time limit, because a mirror may hang
bounded() { timeout --foreground -k 10 900 "$@" 8>&-; }

# The mirror this machine is set up with.
mirror()
{
	local m
	m=$(cat /etc/apt/sources.list.d/*.sources 2>/dev/null | awk '/^URIs:/ { print $2; exit }')
	[ -n "$m" ] || m=$(awk '$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ "://") { print $i; exit } }' \
		/etc/apt/sources.list 2>/dev/null)
	[ -n "$m" ] || skip "no Debian mirror in this machine's apt sources"
	echo "$m"
}

# logged WHAT COMMAND...: writes its output to the log; a failure counts as a failed download
logged()
{
	local what=$1 t=$SECONDS status; shift
	say "$what ..."
	# as the condition of an if, the command's own set -e would be off
	set +e
	(set -e; "$@") >>"$log" 2>&1
	status=$?
	set -e
	if [ $status -ne 0 ]; then
		tail -n 5 "$log" | sed 's/^/      /' >&2
		skip "$what failed, see $log"
	fi
	say "$what: $((SECONDS - t)) s"
}

patience=(-o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30 -o Acquire::Retries=2)

# debootstrap is unpacked from its package, not installed
bootstrap_unpack()
{
	[ -x "$cache/debootstrap/usr/sbin/debootstrap" ] && return
	rm -rf "$cache/debootstrap.part"; mkdir -p "$cache/debootstrap.part"
	(
		cd "$cache/debootstrap.part"
		bounded apt-get "${patience[@]}" -o APT::Sandbox::User=root download debootstrap ||
			{ bounded apt-get "${patience[@]}" update -qq && bounded apt-get "${patience[@]}" -o APT::Sandbox::User=root download debootstrap; }
		dpkg -x debootstrap_*.deb .
		rm debootstrap_*.deb
	)
	rm -rf "$cache/debootstrap"; mv "$cache/debootstrap.part" "$cache/debootstrap"
}

# apt_settings FOLDER SUITE...: apt's settings in this folder
apt_settings()
{
	local to=$1; shift
	mkdir -p "$to"/{sources.list,apt.conf}.d
	printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' "$mirror" "$*" $keyring >"$to/sources.list.d/debian.sources"
	: >"$to/sources.list"
	printf '%s;\n' 'APT::Sandbox::User "root"' 'Acquire::http::Timeout "30"' 'Acquire::https::Timeout "30"' 'Acquire::Retries "2"' \
		'Acquire::Languages "none"' >"$to/apt.conf.d/99hcasim"
	cp /etc/apt/apt.conf.d/*proxy* "$to/apt.conf.d/" 2>/dev/null || true
}

# bootstrap SET SUITE...: makes a minimal root; further suites are only added to its sources. It mounts in its own namespace.
bootstrap()
{
	local root=$1/root suite=$2
	# no fsync: a root that is lost when the machine crashes is made again
	mkdir -p "$root/etc/dpkg/dpkg.cfg.d"
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/hcasim"
	DEBOOTSTRAP_DIR=$cache/debootstrap/usr/share/debootstrap bounded unshare --mount --propagation private \
		"$cache/debootstrap/usr/sbin/debootstrap" --variant=minbase --keyring=$keyring "$suite" "$root" "$mirror"
	shift
	apt_settings "$root/etc/apt" "$@"
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"; chmod 755 "$root/usr/sbin/policy-rc.d"
	rm -rf "$root"/var/cache/apt/archives/*.deb
}

# in_sets LISTS SETS COMMAND...: see in_layers.sh
in_sets() { LISTS=$1 bounded "$vm_src/in_layers.sh" "${@:2}"; }

# install_in LISTS SETS ARGUMENT...: installs packages in the uppermost set. If it fails, updates apt's lists and tries again
install_in()
{
	local lists=$1 sets=$2 install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends); shift 2
	ls "$lists"/lists/*_Packages >/dev/null 2>&1 || in_sets "$lists" "$sets" apt-get update -qq
	in_sets "$lists" "$sets" "${install[@]}" "$@" ||
		{ in_sets "$lists" "$sets" apt-get update -qq && in_sets "$lists" "$sets" "${install[@]}" "$@"; }
	rm -rf "$lists"/cache/archives/*.deb
}

qemu_make()
{
	local made=$qemu_root.part
	rm -rf "$made"
	bootstrap "$made" $qemu_suite $qemu_suite-backports
	install_in "$made/apt" "$made" -t $qemu_suite-backports $qemu_package
	mv "$made/root" "$qemu_root"
	rm -rf "$made"
}

# The kernel is unpacked, not installed: installing it would make an initrd that nobody boots.
kernel_make()
{
	local made=$1 image deb tools=$tools_root
	[ -d "$tools" ] || tools=$made/root
	image=$(guest_depends "$made" $kernel_package)
	guest_download "$made" "$image"
	deb=$(ls "$made/root/tmp/$image"_*.deb)
	dpkg-deb -x "$deb" "$made/kernel"
	rm "$deb"
	mv "$made"/kernel/boot/vmlinuz-* "$made/kernel/vmlinuz"
	in_root "$tools" /sbin/depmod -b "$made/kernel" "${image#linux-image-}"
}

guest_make()
{
	local made=$guest_made.part
	rm -rf "$made"
	guest_bootstrap "$made"
	guest_install "$made" $base_packages
	kernel_make "$made"
	mv "$made" "$guest_made"
}

# set_make SET SETS PACKAGE...: makes a set over SETS
set_make()
{
	local made=$1 under=$2; shift 2
	rm -rf "$made.part"; mkdir -p "$made.part/root"
	guest_install "$made.part:$under" "$@"
	mv "$made.part" "$made"
}

# sets_make PACKAGE... [+ PACKAGE...]: makes the sets and lists them in $sets, top first; the name of a set depends on all sets below it
sets_make()
{
	local word set=() made=
	sets=$guest_made
	for word in "$@" +; do
		if [ "$word" != + ]; then
			set+=("$word")
		elif [ ${#set[@]} -gt 0 ]; then
			made=$cache/set-$(key "$sets" "${set[@]}")
			[ -d "$made" ] || logged "packages: ${set[*]}" set_make "$made" "$sets" "${set[@]}"
			sets=$made:$sets set=()
		fi
	done
}

# headers_make SET VERSION: Linux's headers for guests that this machine cannot be
headers_make()
{
	local made=$1 package deb
	rm -rf "$made.part"
	for package in "linux-headers-$2" "linux-headers-${2%-*}-common"; do
		guest_download "$made.part" "$package"
		deb=$(ls "$made.part/root/tmp/$package"_*.deb)
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$made.part/root" ./usr
		rm "$deb"
	done
	mv "$made.part" "$made"
}

# build_make: what builds modules of the guest's kernel
build_make()
{
	local version headers= compiler
	version=$(ls "$guest_made/kernel/lib/modules")
	if [ -n "$foreign_arch" ]; then
		headers=$cache/headers-$(key "$guest_made" "$version")
		[ -d "$headers" ] || logged "headers of Linux $version" headers_make "$headers" "$version"
		headers=$headers: compiler=gcc-${cross%-}
		arch_settings amd64
		sets_make "linux-kbuild-$(cut -d . -f 1-2 <<<"$version")" make "$compiler"
	else
		sets_make "linux-headers-$version" make
	fi
	printf 'build_sets=%q\nbuild_lists=%q\n' "$headers$sets" "$guest_lists"
}

binutils_make()
{
	local package=binutils-${cross%-}
	arch_settings amd64
	sets_make "$package"
	printf 'binutils_sets=%q\n' "$sets"
}

# kernel_version FILE: prints the version in the header of an x86 kernel image, or in the text of an arm64 one
kernel_version()
{
	local at text
	if [ $ARCH = arm64 ]; then
		gzip -dcf "$1" | LC_ALL=C grep -ao 'Linux version [^ ]*' | sed -n '1s/.* //p'
		return
	fi
	at=$(od -An -tu2 -j 526 -N 2 "$1")
	text=$(dd if="$1" bs=1 skip=$((at + 512)) count=200 status=none | tr '\0' ' ')
	echo "${text%% *}"
}

# modules_with DIR: Debian's modules, with those of DIR taking precedence
modules_with()
{
	local to=$VM_DIR/modules version
	version=$(ls "$guest_made/kernel/lib/modules")
	rm -rf "$to"; mkdir -p "$to/lib"
	cp -al "$guest_made/kernel/lib/modules" "$to/lib/" 2>/dev/null || cp -a "$guest_made/kernel/lib/modules" "$to/lib/"
	mkdir "$to/lib/modules/$version/updates"
	cp "$1"/*.ko "$to/lib/modules/$version/updates/"
	in_root "$tools_root" /sbin/depmod -b "$to" "$version"
}

# initrd_make FILE ROOT MODULES VERSION: loads the modules in the order of their dependencies
initrd_make()
{
	local file=$1 root=$2 modules=$3 version=$4 m path tree=$VM_DIR/initrd.tree
	rm -rf "$tree"; mkdir -p "$tree"/{bin,dev,proc,sys,ro,rw,new,modules}
	cp "$root/bin/busybox" "$tree/bin/"; ln -s busybox "$tree/bin/sh"
	install -m 755 "$vm_src/init" "$tree/init"
	for m in virtio_pci virtio_net 9pnet_virtio 9p overlay; do
		in_root "$tools_root" /sbin/modprobe -d "$modules" -S "$version" --show-depends $m
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r path; do
		case $path in
		*.xz) xz -dc "$path" >"$tree/modules/$(basename "$path" .xz)" ;;
		*.zst) in_root "$tools_root" /usr/bin/zstd -dcq "$path" >"$tree/modules/$(basename "$path" .zst)" ;;
		*) cp "$path" "$tree/modules/" ;;
		esac
		basename "${path%.xz}" .zst >>"$tree/modules/order"
	done
	if [ -n "${INITRD_MODULE:-}" ]; then
		cp "$INITRD_MODULE" "$tree/modules/"
		basename "$INITRD_MODULE" >>"$tree/modules/order"
	fi
	(cd "$tree" && find . | LC_ALL=C sort | in_root "$tools_root" /bin/cpio -o -H newc --quiet) |
		in_root "$tools_root" /usr/bin/zstd -q -3 >"$file.part"
	mv "$file.part" "$file"
	rm -rf "$tree"
}

# tools_make: the root of the tools, which is that of amd64 guests
tools_make()
{
	[ -d "$tools_root" ] || (arch_settings amd64; logged "this machine's tools from $guest_suite" guest_make)
}

# The two roots are made at the same time, because both mostly wait for the mirror.
roots_make()
{
	local qemu=
	if [ ! -d "$qemu_root" ]; then
		log=$log.qemu logged "QEMU from $qemu_suite-backports" qemu_make &
		qemu=$!
	fi
	[ -z "$foreign_arch" ] || tools_make || { wait; exit $EX_SKIP; }
	[ -d "$guest_made" ] || (logged "guest root and kernel from $guest_suite" guest_make) || { wait; exit $EX_SKIP; }
	[ -z "$qemu" ] || wait "$qemu" || exit $?
}

if [ ! -d "$qemu_root" ] || [ ! -d "$guest_made" ] || [ ! -d "$tools_root" ]; then
	[ "$(id -u)" -eq 0 ] || skip "making the guest's root needs root (debootstrap)"
	command -v apt-get >/dev/null || skip "this machine has no apt-get"
	[ -e $keyring ] || skip "no $keyring"
	mirror=$(mirror)
	: >"$log"
	say "Debian packages are downloaded once, some $download_mb MB, and kept in $cache"
	logged "debootstrap" bootstrap_unpack
	roots_make
fi
root=$guest_made/root
case ${1:-} in
--build) build_make; exit ;;
--binutils) binutils_make; exit ;;
esac
sets_make "$@"
kernel=${KERNEL:-$guest_made/kernel/vmlinuz}
modules=${MODULES:-$guest_made/kernel}
[ -r "$kernel" ] || die "KERNEL: no file $kernel"
[ -z "${KERNEL:-}" ] || [ -n "${MODULES:-}" ] || die "KERNEL needs MODULES=dir with lib/modules/VERSION"
[ -d "$modules" ] || die "MODULES: no folder $modules"
[ -d "$modules/lib/modules" ] || [ ! -d "$modules/usr/lib/modules" ] || modules=$modules/usr
if [ ! -d "$modules/lib/modules" ]; then
	ls "$modules"/*.ko >/dev/null 2>&1 || die "$modules has neither lib/modules/VERSION nor .ko files"
	[ -z "${KERNEL:-}" ] || die "KERNEL needs all its modules: MODULES=dir with lib/modules/VERSION"
	modules_with "$modules"
	modules=$VM_DIR/modules
fi
version=$(kernel_version "$kernel")
[ -d "$modules/lib/modules/$version" ] || die "$kernel is Linux $version, and there is no $modules/lib/modules/$version"
[ -e "$modules/lib/modules/$version/modules.dep" ] || in_root "$tools_root" /sbin/depmod -b "$modules" "$version"
initrd=$VM_DIR/initrd-$(key "$(md5sum <"$vm_src/init")" "$root" "$modules" "$version" ${INITRD_MODULE:-}).zst
[ -e "$initrd" ] || initrd_make "$initrd" "$root" "$modules" "$version"
printf 'qemu_root=%q\nguest_sets=%q\nkernel=%q\nmodules=%q\ninitrd=%q\n' \
	"$qemu_root" "$sets" "$kernel" "$(readlink -f "$modules/lib/modules")" "$initrd"
