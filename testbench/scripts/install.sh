#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install.sh install|uninstall: what make install and make uninstall do, with O, PREFIX, LIBDIR, DESTDIR, VERSION, CC and INCLUDES
# (the folders of -I) from the Makefile. Nothing that is installed names the place where it was built or is installed to:
# the program looks from its own folder (testbench/os/place.c), and pkg-config from that of hcasim.pc.
set -euo pipefail

root=${DESTDIR:-}$PREFIX
bin=$root/bin data=$root/share/hcasim headers=$root/include/hcasim lib=${DESTDIR:-}$LIBDIR
man=$root/share/man/man1 doc=$root/share/doc/hcasim
bash_completion=$root/share/bash-completion/completions zsh_completion=$root/share/zsh/site-functions

uninstall()
{
	rm -rf "$data" "$headers" "$doc"
	rm -f "$bin/hcasim" "$lib/libhcasim.a" "$lib/pkgconfig/hcasim.pc" "$man/hcasim.1" "$bash_completion/hcasim" "$zsh_completion/_hcasim"
}

# copy FOLDER FILE...: each at its path in this tree, below the folder; what the build made, at its path below $O/gen
copy()
{
	local to=$1 f; shift
	for f in "$@"; do install -D -m 644 "$f" "$to/${f#"$O/gen/"}"; done
}

# The headers that scenarios, programs and users of the SystemC module include, and all that those include.
reached_headers()
{
	local folders=()
	for i in $INCLUDES $O/gen; do folders+=("-I$i"); done
	{
		cat "$O"/obj/testbench/scenarios/*/*.d "$O"/obj/model/systemc/*.d "$O"/obj/model/systemc/example/*.d
		$CC "${folders[@]}" -MM -DSCENARIO_EXTERNAL -x c testbench/*.h testbench/machine/posix.h testbench/programs/*.c testbench/examples/*.c
		find host_driver/*/include -name '*.h'
	} | tr -s ' \\' '\n' | grep -E '\.(h|hpp)$' | sort -u | while read -r f; do [ ! -e "$f" ] || echo "$f"; done
}

pkg_config_file()
{
	cat <<-END
		prefix=\${pcfiledir}/$(realpath -m --relative-to="$LIBDIR/pkgconfig" "$PREFIX")
		includedir=\${prefix}/include/hcasim
		libdir=\${pcfiledir}/..

		Name: hcasim
		Description: InfiniBand HCA as a SystemC TLM-2.0 module, and a driver for it
		Version: $VERSION
		Cflags:$(printf ' -I${includedir}/%s' $INCLUDES)
		Libs: -L\${libdir} -lhcasim -lsystemc -lelf -linih -lpthread
	END
}

install_all()
{
	local files
	install -D -m 755 "$O/hcasim" "$bin/hcasim"
	install -D -m 644 "$O/fw/hcasim-fw.elf" "$data/fw/hcasim-fw.elf"
	install -m 644 "$O/hcasim_cm.lua" "$data/"
	mapfile -t files < <(find configs testbench/perf testbench/programs testbench/examples testbench/scenarios model/systemc/example -type f \
		'(' -name '*.ini' -o -path '*/perf/*.csv' -o -path '*/programs/*' -o -path '*/examples/*' -o -path '*/scenarios/*.c' -o -path '*/example/*' ')')
	copy "$data" "${files[@]}"
	mapfile -t files < <(reached_headers)
	copy "$headers" "${files[@]}"
	mapfile -t files < <(find README.md configs fw host_driver model testbench traces -name '*.md')
	copy "$doc" "${files[@]}"
	install -D -m 644 "$O/libhcasim.a" "$lib/libhcasim.a"
	mkdir -p "$lib/pkgconfig" "$man" "$bash_completion" "$zsh_completion"
	pkg_config_file >"$lib/pkgconfig/hcasim.pc"
	"$O/hcasim" help --as man >"$man/hcasim.1"
	"$O/hcasim" help --as bash >"$bash_completion/hcasim"
	"$O/hcasim" help --as zsh >"$zsh_completion/_hcasim"
	chmod 644 "$lib/pkgconfig/hcasim.pc" "$man/hcasim.1" "$bash_completion/hcasim" "$zsh_completion/_hcasim"
}

case ${1:-} in
install) install_all ;;
uninstall) uninstall ;;
*) echo "usage: $0 install|uninstall" >&2; exit 2 ;;
esac
