# SPDX-License-Identifier: Apache-2.0
# What differs between the guests' architectures. Sourced by lib.sh.
#
#   ARCH=amd64   Debian's name of the guests' architecture: amd64 or arm64
ARCH=${ARCH:-amd64}

# The settings of an architecture, for a function that uses them for a time: local "${arch_names[@]}"
arch_names=(qemu_package qemu_program machine processor words lines iommu iommu_words iommu_source kernel_package download_mb triplet foreign_arch
	linux_arch cross gdb_arch gdb_pc gdb_sp no_drivers qemu_root guest_made guest_lists)

# arch_settings ARCHITECTURE:
#   qemu_package, qemu_program   QEMU's package, and the program in it
#   machine, processor   QEMU's machine, and its arguments for a processor
#   words                further words of the kernel's command line
#   lines                serial lines, as the kernel names them: the console, and what serial_arguments adds
#   iommu, iommu_words   QEMU's arguments for an IOMMU that vfio-user devices can have, and the kernel's words for it
#   iommu_source         Debian's kernel does not have its driver: the source of it, as a module
#   kernel_package       Debian's kernel
#   download_mb          what is downloaded for the roots, from an empty cache
#   triplet              the folder of libraries
#   foreign_arch         its name again if this machine cannot execute the guest's programs
#   linux_arch, cross    how its modules are built: ARCH and CROSS_COMPILE for Linux's make
#   gdb_arch, gdb_pc, gdb_sp   names for gdb
#   no_drivers           drivers that Debian's kernel does not have there
arch_settings()
{
	iommu_source= no_drivers=
	case $1 in
	amd64)
		qemu_package=qemu-system-x86 qemu_program=/usr/bin/qemu-system-x86_64 machine=q35 processor=()
		# no_timer_check: an emulated timer may be late on a busy machine, and the kernel would refuse to boot
		words='no_timer_check random.trust_cpu=on' lines=ttyS0,ttyS1,ttyS2,ttyS3
		iommu=(-device intel-iommu,caching-mode=on) iommu_words='intel_iommu=on iommu.strict=1'
		download_mb=210 kernel_package=linux-image-amd64 triplet=x86_64-linux-gnu foreign_arch=
		linux_arch=x86 cross=
		gdb_arch=i386:x86-64 gdb_pc=rip gdb_sp=rsp
		;;
	arm64)
		# this processor has atomic instructions, and no pointer authentication or SVE, which cost QEMU time
		qemu_package=qemu-system-arm qemu_program=/usr/bin/qemu-system-aarch64 machine=virt,gic-version=3 processor=(-cpu neoverse-n1)
		words= lines=ttyAMA0,ttyS0,ttyS1,ttyS2
		# behind QEMU's smmuv3 there can be no vfio-user device: it does not tell what the guest maps
		iommu=(-device virtio-iommu-pci) iommu_words=iommu.strict=1 iommu_source=drivers/iommu/virtio-iommu.c
		download_mb=330 kernel_package=linux-image-arm64 triplet=aarch64-linux-gnu foreign_arch=arm64
		linux_arch=arm64 cross=aarch64-linux-gnu-
		gdb_arch=aarch64 gdb_pc=pc gdb_sp=sp no_drivers=ib_qib
		;;
	*) die "ARCH: expected amd64 or arm64, got $1" ;;
	esac
	qemu_root=$cache/qemu-$(key $qemu_suite $qemu_package)
	guest_made=$cache/guest-$(key $guest_suite $base_packages $foreign_arch)
	# apt's lists for the guest's suite
	guest_lists=$cache/apt-$guest_suite${foreign_arch:+-$foreign_arch}
}

# serial_arguments CHARDEV...: sets $serial to QEMU's arguments for so many serial lines. The machine `virt` has one that a kernel finds by itself; the
# others are a PCI device.
serial_arguments()
{
	local n=1 chardev others=
	serial=(-serial "chardev:$1"); shift
	for chardev in "$@"; do
		[ $ARCH = arm64 ] || serial+=(-serial "chardev:$chardev")
		others+=,chardev$n=$chardev n=$((n + 1))
	done
	[ $ARCH != arm64 ] || serial+=(-device "pci-serial-4x$others")
}
