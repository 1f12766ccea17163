# SPDX-License-Identifier: Apache-2.0
# Storage over the kernel's verbs: targets with memory disks in guest a, and initiators in guest b that write, read back and disconnect.
# Sourced by the checks in testbench/vm/checks.sh. IPoIB gives the addresses; guest a is 10.78.0.1.
#
#   NAME_target        starts the target; it is ready when the function returns
#   NAME_connect       connects; the disk or folder exists afterwards
#   NAME_disconnect    disconnects; it is gone afterwards
#   NAME_target_end    unloads the target's modules
# with nvme, iser, srp and nfs for NAME.
disk_mib=4
nqn=nqn.2020-01.test:ram iqn=iqn.2020-01.test:ram

# wait_for SECONDS COMMAND...
wait_for()
{
	local end=$(($(date +%s) + $1)); shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt $end ] || { echo "not within the time: $*" >&2; return 1; }
		sleep 0.2
	done
}

# fill_and_check FILE_OR_DISK: writes random bytes, and reads them back over the network instead of from the page cache
fill_and_check()
{
	head -c $((disk_mib * 1024 * 1024)) /dev/urandom >/tmp/pattern
	dd if=/tmp/pattern of="$1" bs=256k conv=fsync status=none || return
	echo 3 >/proc/sys/vm/drop_caches
	cmp -n $((disk_mib * 1024 * 1024)) /tmp/pattern "$1" && echo "$1: $disk_mib MiB are the same"
}

# one disk each for nvme, iser and srp, so that a failure of one does not disturb the others
ram_disk() { [ -e /dev/ram0 ] || modprobe brd rd_nr=3 rd_size=$((disk_mib * 1024)); }

# scsi_disk: prints the SCSI disk that has the size of the memory disk
scsi_disk()
{
	local d
	for d in /sys/block/sd*; do
		[ "$(cat "$d/size" 2>/dev/null)" = $((disk_mib * 2048)) ] && echo "/dev/${d##*/}" && return
	done
	return 1
}
no_scsi_disk() { ! scsi_disk; }

# --- NVMe over fabrics ---

nvmet=/sys/kernel/config/nvmet
nvme_target()
{
	local s=$nvmet/subsystems/$nqn
	ram_disk && modprobe nvmet-rdma && mkdir "$s" "$s/namespaces/1" "$nvmet/ports/1" || return
	echo 1 >"$s/attr_allow_any_host"
	echo /dev/ram0 >"$s/namespaces/1/device_path"
	echo 1 >"$s/namespaces/1/enable"
	cd "$nvmet/ports/1" || return
	echo ipv4 >addr_adrfam; echo rdma >addr_trtype; echo 10.78.0.1 >addr_traddr; echo 4420 >addr_trsvcid
	ln -s "$s" subsystems/ && echo 'nvme target'
}
nvme_target_end()
{
	cd / && rm "$nvmet/ports/1/subsystems/$nqn" && rmdir "$nvmet/ports/1" "$nvmet/subsystems/$nqn/namespaces/1" "$nvmet/subsystems/$nqn" &&
		modprobe -r nvmet-rdma
}
# The two queues have 256 memory regions, and each is freed by a command that ends with an interrupt. With late interrupts this takes longer than 5 s,
# NVMe's usual keep-alive time. The target would then end the connection, and the initiator would wait for 60 s.
nvme_connect()
{
	modprobe nvme-rdma && echo "transport=rdma,traddr=10.78.0.1,trsvcid=4420,nqn=$nqn,keep_alive_tmo=60" >/dev/nvme-fabrics &&
		wait_for 20 ls /dev/nvme0n1 && disk=/dev/nvme0n1
}
nvme_disconnect() { echo 1 >/sys/class/nvme/nvme0/delete_controller && [ ! -e /dev/nvme0n1 ]; }

# --- SCSI targets ---

tcm=/sys/kernel/config/target
# tcm_disk N: /dev/ramN as $tcm_at
tcm_disk()
{
	tcm_at=$tcm/core/iblock_$1/ram$1
	ram_disk && modprobe target_core_mod && modprobe target_core_iblock && mkdir -p "$tcm_at" || return
	cd "$tcm_at" && echo udev_path=/dev/ram$1 >control && echo 1 >enable
}
tcm_disk_end() { rmdir "$tcm/core/iblock_$1/ram$1" "$tcm/core/iblock_$1"; }

iser_target()
{
	tcm_disk 1 && modprobe iscsi_target_mod && modprobe ib_isert && mkdir -p "$tcm/iscsi/$iqn/tpgt_1" && cd "$tcm/iscsi/$iqn/tpgt_1" || return
	mkdir lun/lun_0 && ln -s "$tcm_at" lun/lun_0/ram || return
	echo 0 >attrib/authentication; echo 1 >attrib/generate_node_acls; echo 0 >attrib/demo_mode_write_protect
	mkdir np/10.78.0.1:3260 && echo 1 >np/10.78.0.1:3260/iser && echo 1 >enable || return
	while [ -e "$tcm/iscsi/$iqn/tpgt_1" ]; do cat "$tcm/iscsi/$iqn/tpgt_1/dynamic_sessions" >/share/iser_sessions; sleep 0.2; done >/dev/null 2>&1 &
	echo 'iser target'
}
iser_session() { grep -qa 'iqn.2020-01.test:b' /share/iser_sessions; }
iser_no_session() { ! iser_session; }
iser_target_end()
{
	cd "$tcm/iscsi/$iqn/tpgt_1" && echo 0 >enable && rmdir np/10.78.0.1:3260 && rm lun/lun_0/ram && rmdir lun/lun_0 && cd / &&
		rmdir "$tcm/iscsi/$iqn/tpgt_1" "$tcm/iscsi/$iqn" "$tcm/iscsi" && tcm_disk_end 1 && modprobe -r ib_isert
}
# Linux's target sends its answer to a login before it has set the session's parameters (iscsi_post_login_handler). A command that comes between
# the two makes it loop for ever in iscsit_build_pdu_and_seq_lists, which happens when its thread loses the processor there. So the initiator looks
# for disks only when the target shows the session.
iser_connect()
{
	modprobe -a ib_iser sd_mod && mkdir -p /run/lock/iscsi && echo "InitiatorName=iqn.2020-01.test:b" >/etc/iscsi/initiatorname.iscsi || return
	pgrep iscsid >/dev/null || iscsid || return
	iscsiadm -m node -o new -T $iqn -p 10.78.0.1:3260 -I iser && iser_node -o update -n node.session.scan -v manual && iser_node --login &&
		wait_for 20 iser_session && iser_node --rescan && wait_for 20 scsi_disk && disk=$(scsi_disk)
}
iser_node() { iscsiadm -m node -T $iqn -p 10.78.0.1:3260 -I iser "$@"; }
iser_disconnect() { iser_node --logout && wait_for 20 no_scsi_disk && wait_for 20 iser_no_session; }

port_gid() { cat /sys/class/infiniband/mlx4_0/ports/1/gids/0; }
# A target port named by GUID identifies initiators by their GUID; one named by GID, by the name that they give themselves.
srp_target()
{
	local guid t
	guid=$(port_gid | cut -d : -f 5-)
	tcm_disk 2 && modprobe ib_srpt && mkdir -p "$tcm/srpt/$guid/$guid" && t=$tcm/srpt/$guid/$guid || return
	mkdir "$t/lun/lun_0" && ln -s "$tcm_at" "$t/lun/lun_0/ram" || return
	# name the initiator's port by its GUID: a target lets an unnamed one only read
	mkdir -p "$t/acls/$1/lun_0" && ln -s "$t/lun/lun_0" "$t/acls/$1/lun_0/lun" && echo 1 >"$t/enable" &&
		echo "id_ext=$(srpt_guid),ioc_guid=$(srpt_guid),dgid=$(port_gid | tr -d :),pkey=ffff,service_id=$(srpt_guid)" >/share/srp_target
}
srpt_guid() { cat /sys/module/ib_srpt/parameters/srpt_service_guid | sed 's/^0x//'; }
srp_target_end()
{
	local t
	t=$(echo "$tcm"/srpt/*:*/*:*)
	echo 0 >"$t/enable"; cd / && rm "$t"/acls/*/lun_0/lun && rmdir "$t"/acls/*/lun_0 "$t"/acls/* && rm "$t/lun/lun_0/ram" && rmdir "$t/lun/lun_0" "$t" "${t%/*}" "$tcm/srpt" &&
		tcm_disk_end 2 && modprobe -r ib_srpt
}
srp_connect()
{
	modprobe -a ib_srp sd_mod && cat /share/srp_target >/sys/class/infiniband_srp/srp-mlx4_0-1/add_target && wait_for 20 scsi_disk && disk=$(scsi_disk)
}
srp_disconnect()
{
	echo 1 >"$(echo /sys/class/srp_remote_ports/port-*/delete)" && wait_for 60 no_scsi_disk && modprobe -r ib_srp
}

# --- NFS ---

nfs_target()
{
	mkdir -p /srv/nfs /run/rpc_pipefs /var/lib/nfs/v4recovery && mount -t tmpfs nfs /srv/nfs && modprobe nfsd && modprobe rpcrdma || return
	mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd || return
	: >>/var/lib/nfs/etab
	# no grace time: no client has state to reclaim
	echo 10 >/proc/fs/nfsd/nfsv4leasetime; echo 10 >/proc/fs/nfsd/nfsv4gracetime
	exportfs -o rw,no_root_squash,insecure,fsid=0,no_subtree_check '*:/srv/nfs' && rpc.mountd --no-nfs-version 3 && rpc.nfsd --no-nfs-version 3 4 &&
		echo 'rdma 20049' >/proc/fs/nfsd/portlist && echo 'nfs target'
}
nfs_target_end() { rpc.nfsd 0 && exportfs -ua && pkill rpc.mountd; sleep 1; umount /srv/nfs; }
nfs_connect() { modprobe rpcrdma && mkdir -p /mnt && mount -t nfs4 -o rdma,port=20049,vers=4.2 10.78.0.1:/ /mnt && disk=/mnt/file; }
nfs_disconnect() { rm -f /mnt/file; umount /mnt; }

# storage_use NAME: connects, moves data, and leaves the disk connected
storage_use() { "$1_connect" && fill_and_check "$disk"; }
