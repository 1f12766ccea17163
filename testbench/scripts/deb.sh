#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deb.sh FOLDER: packs what make install put into FOLDER/root with PREFIX=/usr into $O/hcasim_VERSION_ARCHITECTURE.deb.
# O and VERSION are the Makefile's; MAINTAINER is "Name <address>". The commit's time is that of all files, so that the same commit
# gives the same package.
set -euo pipefail
root=$1/root from=testbench/scripts/debian
doc=$root/usr/share/doc/hcasim architecture=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

strip --strip-unneeded "$root/usr/bin/hcasim"
strip --strip-debug --enable-deterministic-archives "$root"/usr/lib/*/libhcasim.a
gzip -9n "$root/usr/share/man/man1/hcasim.1"
# Debian's folder for completion of packages
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root/usr/share/zsh/site-functions/_hcasim" "$root/usr/share/zsh/vendor-completions/"
rmdir "$root/usr/share/zsh/site-functions"
install -m 644 "$from/copyright" "$doc/copyright"
install -D -m 644 "$from/lintian-overrides" "$root/usr/share/lintian/overrides/hcasim"
maintainer=${MAINTAINER:-hcasim maintainers <hcasim@example.org>}
{
	printf 'hcasim (%s) unstable; urgency=medium\n\n  * %s\n\n' "$VERSION" "Changes are listed in .github/CHANGELOG.md of the source."
	printf ' -- %s  %s\n' "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"
} | gzip -9n >"$doc/changelog.gz"

# dpkg-shlibdeps wants a source package around it
mkdir -p "$1/source/debian"
printf 'Source: hcasim\n\nPackage: hcasim\nArchitecture: any\n' >"$1/source/debian/control"
depends=$(cd "$1/source" && dpkg-shlibdeps -O "../root/usr/bin/hcasim" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { echo "deb.sh: dpkg-shlibdeps finds no libraries" >&2; exit 1; }

mkdir -p "$root/DEBIAN"
sed "s|@VERSION@|$VERSION|; s|@ARCHITECTURE@|$architecture|; s|@MAINTAINER@|$maintainer|; s|@DEPENDS@|$depends|
	s|@SIZE@|$(du -sk --exclude=DEBIAN "$root" | cut -f1)|" "$from/control" >"$root/DEBIAN/control"
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -type d -exec chmod 755 {} +
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group --build "$root" "$O/hcasim_${VERSION}_$architecture.deb"
