# SPDX-License-Identifier: Apache-2.0
# Shared by all scripts of testbench/vm: paths, messages and the download cache. Sourced by bash.
#
#   HCASIM_CACHE  roots and kernels made from Debian packages, named by what they were made from; default build/cache
#   VM_DIR        logs and the shared folder; default build/vm
#   ACCEL         QEMU accelerator; default tcg: /dev/kvm may exist and still not boot a stock kernel
vm_src=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$vm_src/../.." && pwd)
O=${O:-build}
case $O in /*) ;; *) O=$top/$O ;; esac
cache=${HCASIM_CACHE:-$O/cache}
case $cache in /*) ;; *) cache=$PWD/$cache ;; esac
VM_DIR=${VM_DIR:-$O/vm}

# exit status of a script that could not run on this machine
readonly EX_SKIP=77

say() { printf '  %-4s %s\n' VM "$*" >&2; }
die() { printf 'vm: %s\n' "$*" >&2; exit 1; }
skip() { printf 'skip: %s\n' "$*" >&2; exit $EX_SKIP; }

# key WORD...: prints a hash of the words, as a name for what is made from them
key() { printf '%s\n' "$@" | md5sum | cut -c1-10; }

# Packages for the short form of the checks, and those that all checks need in addition.
base_packages="rdma-core ibverbs-utils ibverbs-providers opensm infiniband-diags iproute2 pciutils kmod procps busybox-static
	cpio zstd xz-utils"
more_packages="rdmacm-utils perftest python3-pyverbs iputils-ping iperf3 ethtool qperf"
# and those for the storage checks
storage_packages="nfs-kernel-server nfs-common open-iscsi"
guest_suite=bookworm qemu_suite=trixie

. "$vm_src/arch.sh"
# Programs that make things for guests, such as depmod, come from a root that this machine can execute, whatever the guests are.
arch_settings amd64
tools_root=$guest_made/root
arch_settings "$ARCH"

# foreign ROOT PROGRAM: sets $foreign to the command that runs a program of another Debian root on this machine's files, without chroot
foreign()
{
	foreign=("$1/lib64/ld-linux-x86-64.so.2" --argv0 "${2##*/}" --library-path "$1/usr/lib/x86_64-linux-gnu:$1/lib/x86_64-linux-gnu"
		"$(readlink_in "$1" "$2")")
}

# in_root ROOT PROGRAM ARGUMENT...: runs a program of another root
in_root()
{
	local foreign
	foreign "$1" "$2"; shift 2
	"${foreign[@]}" "$@"
}

# readlink_in ROOT PATH: follows absolute symbolic links inside ROOT
readlink_in()
{
	local path=$2 to
	while to=$(readlink "$1$path"); do
		case $to in /*) path=$to ;; *) path=${path%/*}/$to ;; esac
	done
	echo "$1$path"
}

# binutil PROGRAM ARGUMENT...: a program of binutils, for files of the guests' architecture
binutil()
{
	local program=$1 settings binutils_sets; shift
	if [ -z "$cross" ]; then "$program" "$@"; return; fi
	settings=$("$vm_src/prepare.sh" --binutils) || return
	eval "$settings"
	LISTS= OUTSIDE=1 "$vm_src/in_layers.sh" "$binutils_sets" ./lib64/ld-linux-x86-64.so.2 --library-path ./usr/lib/x86_64-linux-gnu \
		"./usr/bin/$cross$program" "$@"
}
