# What every script of testbench/vm shares: paths, messages, and the cache of what was downloaded. Sourced by bash.
#
#   HCASIM_CACHE  roots and kernels made from Debian packages, named by what they were made from; default build/cache
#   VM_DIR        what the machines leave: logs, the folder they share; default build/vm
#   ACCEL         QEMU accelerator; default tcg: /dev/kvm may exist and still not boot a stock kernel
vm_src=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$vm_src/../.." && pwd)
O=${O:-build}
case $O in /*) ;; *) O=$top/$O ;; esac
cache=${HCASIM_CACHE:-$O/cache}
case $cache in /*) ;; *) cache=$PWD/$cache ;; esac
VM_DIR=${VM_DIR:-$O/vm}

# exit status of a script that could not do its work here, through no fault of the device
readonly EX_SKIP=77

say() { printf '  %-4s %s\n' VM "$*" >&2; }
die() { printf 'vm: %s\n' "$*" >&2; exit 1; }
skip() { printf 'skip: %s\n' "$*" >&2; exit $EX_SKIP; }

# key WORD...: a short name for what something is made from
key() { printf '%s\n' "$@" | md5sum | cut -c1-10; }

# What the short form of the checks needs, and what all of them need besides.
base_packages="rdma-core ibverbs-utils ibverbs-providers opensm infiniband-diags iproute2 pciutils kmod procps busybox-static
	cpio zstd xz-utils"
more_packages="rdmacm-utils perftest python3-pyverbs iputils-ping iperf3 ethtool"
# and the users of the kernel's verbs
storage_packages="nfs-kernel-server nfs-common open-iscsi"
guest_suite=bookworm qemu_suite=trixie

qemu_root=$cache/qemu-$(key $qemu_suite qemu-system-x86)
guest_made=$cache/guest-$(key $guest_suite $base_packages)
# what apt knows of the guest's suite
guest_lists=$cache/apt-$guest_suite

# foreign ROOT PROGRAM: in $foreign, the command that runs a program of another Debian root on this machine's files, without chroot
foreign()
{
	foreign=("$1/lib64/ld-linux-x86-64.so.2" --argv0 "${2##*/}" --library-path "$1/usr/lib/x86_64-linux-gnu:$1/lib/x86_64-linux-gnu"
		"$(readlink_in "$1" "$2")")
}

# in_root ROOT PROGRAM ARGUMENT...: runs it
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
