# SPDX-License-Identifier: Apache-2.0
# Debian packages for guests. Sourced by prepare.sh. SETS is a list SET:SET:..., uppermost first, as for in_layers.sh.
#
#   guest_bootstrap SET            a minimal root
#   guest_install SETS PACKAGE...  adds the packages, and what they depend on, to the uppermost set
#   guest_depends SETS PACKAGE     prints the first package that a package depends on
#   guest_download SETS PACKAGE    into /tmp of the uppermost set
#
# Where this machine executes the guest's programs, debootstrap and apt in the root do this. Elsewhere ($foreign_arch) this machine's apt chooses and
# downloads, and the packages are unpacked: their maintainer scripts do not run. Of what these would do, foreign_finish does what guests here need.
guest_bootstrap()
{
	if [ -z "$foreign_arch" ]; then bootstrap "$1" $guest_suite $guest_suite; else foreign_bootstrap "$1"; fi
}

guest_install()
{
	if [ -z "$foreign_arch" ]; then install_in "$guest_lists" "$@"; else foreign_install "$@"; fi
}

guest_depends()
{
	local apt=(in_sets "$guest_lists" "$1")
	[ -z "$foreign_arch" ] || apt=(foreign_apt "$1")
	"${apt[@]}" apt-cache depends "$2" | awk '$1 == "Depends:" { print $2; exit }'
}

guest_download()
{
	local set=${1%%:*}
	if [ -z "$foreign_arch" ]; then
		in_sets "$guest_lists" "$1" sh -c "cd /tmp && apt-get download -qq $2"
	else
		mkdir -p "$set/root/tmp"
		(cd "$set/root/tmp" && foreign_apt "$1" apt-get download -qq "$2")
	fi
}

# foreign_status SETS: prints the name of the file that says which packages the sets have; a set that adds packages has the whole list
foreign_status()
{
	local set sets
	IFS=: read -r -a sets <<<"$1"
	for set in "${sets[@]}"; do
		[ ! -s "$set/root/var/lib/dpkg/status" ] || { echo "$set/root/var/lib/dpkg/status"; return; }
	done
	echo /dev/null
}

# foreign_apt SETS COMMAND...: one of this machine's apt programs with settings, lists and packages of its own
foreign_apt()
{
	local file=$guest_lists/apt.conf
	printf '%s;\n' "Dir::State \"$guest_lists\"" "Dir::State::status \"$(foreign_status "$1")\"" "Dir::Cache \"$guest_lists/cache\"" \
		"Dir::Etc \"$guest_lists/etc\"" "APT::Architecture \"$foreign_arch\"" "APT::Architectures { \"$foreign_arch\"; }" >"$file"
	shift
	APT_CONFIG=$file bounded "$@"
}

# foreign_bootstrap SET: the packages that debootstrap puts into a minimal root. The folders of programs and libraries are links to those below /usr; a package says so.
foreign_bootstrap()
{
	mkdir -p "$guest_lists"/{lists,cache/archives}/partial "$guest_lists/etc/apt.conf.d" "$guest_lists/etc/preferences.d" "$1/root"
	apt_settings "$guest_lists/etc" $guest_suite
	foreign_apt "$1" apt-get update -qq
	foreign_install "$1" '?essential' usr-is-merged $(foreign_apt "$1" apt-cache dumpavail |
		awk '/^Package:/ { name = $2 } $0 == "Priority: required" { print name }')
}

# foreign_install SETS PACKAGE...
foreign_install()
{
	local sets=$1 root=${1%%:*}/root; shift
	foreign_fetch "$sets" "$@" || { foreign_apt "$sets" apt-get update -qq && foreign_fetch "$sets" "$@"; }
	foreign_unpack "$sets" "$root"
	foreign_finish "$root"
}

foreign_fetch()
{
	local sets=$1; shift
	rm -f "$guest_lists"/cache/archives/*.deb
	foreign_apt "$sets" apt-get install -y -qq --download-only --no-install-recommends "$@"
}

# foreign_unpack SETS ROOT: unpacks what was downloaded, and notes it as installed
foreign_unpack()
{
	local deb folder status=$2/var/lib/dpkg/status before
	before=$(foreign_status "$1")
	for folder in bin sbin lib; do
		mkdir -p "$2/usr/$folder"
		ln -sfn usr/$folder "$2/$folder"
	done
	mkdir -p "$2/var/lib/dpkg"
	cat "$before" >"$status.new"
	for deb in "$guest_lists"/cache/archives/*.deb; do
		[ -e "$deb" ] || continue
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$2" --numeric-owner --keep-directory-symlink
		dpkg-deb -f "$deb" | sed '/^Package:/a Status: install ok installed' >>"$status.new"
		echo >>"$status.new"
		rm "$deb"
	done
	mv "$status.new" "$status"
}

# foreign_finish ROOT: the users, how names are looked up, and names that programs have by update-alternatives
foreign_finish()
{
	local root=$1 name
	for name in passwd group; do
		[ ! -e "$root/usr/share/base-passwd/$name.master" ] || [ -e "$root/etc/$name" ] || cp "$root/usr/share/base-passwd/$name.master" "$root/etc/$name"
	done
	[ ! -e "$root/usr/share/libc-bin/nsswitch.conf" ] || cp "$root/usr/share/libc-bin/nsswitch.conf" "$root/etc/nsswitch.conf"
	[ ! -e "$root/usr/bin/mawk" ] || ln -sfn mawk "$root/usr/bin/awk"
	[ ! -e "$root/usr/bin/which.debianutils" ] || ln -sfn which.debianutils "$root/usr/bin/which"
	[ ! -d "$root/var/run" ] || [ -h "$root/var/run" ] || { rm -rf "$root/var/run"; ln -s /run "$root/var/run"; }
}
