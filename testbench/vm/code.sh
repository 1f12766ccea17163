# SPDX-License-Identifier: Apache-2.0
# Where a guest's driver was: turns the addresses in a report into functions and lines. Sourced by run.sh, after guests.sh.
# serve knows only addresses ("code 0xffffffffc0213f05"). Where the guest had its modules is known at its end, from simulated_init.
#
#   code_names   copies stdin to stdout; "code 0x..." of a module becomes "mlx4_ib_poll_one (cq.c:680)", with debug information, or
#                "mlx4_ib_poll_one" without. What is inlined is told with the function that it is in. Other addresses stay.
#                A line "calls: code 0x..., code 0x..." gets the first 12 functions, each once and without its line. Addresses that have no
#                name, such as those of a module's function for init, are left out there, unless the whole line has none

# module_file NAME: sets $file to the module as it was loaded, unpacked. One of the user lies in updates/
module_file()
{
	file=$(find -L "$modules"/*/updates "$modules" \( -name "${1//_/[_-]}.ko" -o -name "${1//_/[_-]}.ko.xz" \) -print -quit 2>/dev/null)
	case $file in
	*.xz) xz -dc "$file" >"$VM_DIR/$1.ko"; file=$VM_DIR/$1.ko ;;
	esac
	[ -n "$file" ]
}

# section_bytes FILE SECTION: its size. awk reads all: readelf would fail when nobody reads its output any more
section_bytes() { readelf -SW "$1" 2>/dev/null | awk -v section="$2" '{ sub(/^ *\[ *[0-9]+\]/, "") } $1 == section && !n++ { print $5 }'; }

# code_lines GUEST: reads addresses, one a line, and prints "GUEST 0xADDRESS FUNCTION..." for those in modules
code_lines()
{
	local guest=$1 module at section file bytes address all last=
	all=$(cat)
	while read -r module at section; do
		[ "$module" = "$last" ] || module_file "$module" || continue
		last=$module
		bytes=$(section_bytes "$file" "$section")
		[ -n "$bytes" ] || continue
		for address in $all; do
			[ $((address - at)) -lt 0 ] || [ $((address - at)) -ge $((16#$bytes)) ] || printf '0x%x %s\n' $((address - at)) "$address"
		done >"$VM_DIR/code.offsets"
		[ ! -s "$VM_DIR/code.offsets" ] || cut -d ' ' -f 1 "$VM_DIR/code.offsets" | binutil addr2line -a -f -i -s -e "$file" -j "$section" 2>/dev/null |
			awk -v guest="$guest" -v offsets="$VM_DIR/code.offsets" '
				# the innermost function that is no helper of a header
				function tell() { if (name) print guest, address, (first ? first : name) (last && last != name ? ", in " last : "") }
				/^0x/ { tell(); name = first = last = ""; getline line <offsets; split(line, words, " "); address = words[2]; next }
				$0 == "??" { getline; next }
				{
					last = $0; getline
					sub(/ \(discriminator.*/, "")
					if (!name) name = last
					if (!first && /\.c:[1-9]/) { first = last " (" $0 ")"; name = last }
				}
				END { tell() }'
	done <"$share/$guest/modules"
}

code_names()
{
	local text=$VM_DIR/code.text table=$VM_DIR/code.table n=0 name
	cat >"$text"
	: >"$table"
	# with two guests each has one device; lines that belong to a report follow one that names the device
	for name in "${names[@]}"; do
		[ ! -r "$share/$name/modules" ] || awk -v one=${#names[@]} -v n=$n '
			match($0, / hca[0-9] /) { hca = substr($0, RSTART + 4, 1) }
			one == 1 || hca == n { while (match($0, /code 0x[0-9a-f]+/)) { print substr($0, RSTART + 5, RLENGTH - 5); $0 = substr($0, RSTART + RLENGTH) } }
			' "$text" | sort -u | code_lines "$name" >>"$table"
		n=$((n + 1))
	done
	awk -v one=${#names[@]} -v first="${names[0]:-a}" -v second="${names[1]:-}" -v table="$table" '
		# the functions of "code 0x..., code 0x..." that the line does not name yet
		function functions(codes, guest,	out, n, i, code, text, m, k, name) {
			n = split(codes, code, ", ")
			for (i = 1; i <= n; i++) {
				text = where[guest " " substr(code[i], 6)]
				gsub(/ \([^)]*\)/, "", text)
				m = split(text, name, ", in ")
				for (k = 1; k <= m; k++)
					if (count < 12 && !(name[k] in named)) { named[name[k]]; count++; out = out (out ? ", " : "") name[k] }
			}
			return out
		}
		function calls(codes, guest,	n, part, open, returned) {
			split("", named)
			count = 0
			n = split(codes, part, /(; )?returned: /)
			open = functions(part[1], guest)
			returned = n > 1 ? functions(part[2], guest) : ""
			return open (open && returned ? "; " : "") (returned ? "returned: " returned : "")
		}
		BEGIN { while ((getline line <table) > 0) { split(line, w, " "); where[w[1] " " w[2]] = substr(line, length(w[1] w[2]) + 3) } }
		match($0, / hca[0-9] /) { hca = substr($0, RSTART + 4, 1) }
		{
			guest = one == 1 || hca != 1 ? first : second
			if (match($0, /^ +calls: +/)) {
				out = calls(substr($0, RSTART + RLENGTH), guest)
				print out ? substr($0, 1, RSTART + RLENGTH - 1) out : $0
				next
			}
			out = ""
			while (match($0, /code 0x[0-9a-f]+/)) {
				key = guest " " substr($0, RSTART + 5, RLENGTH - 5)
				out = out substr($0, 1, RSTART - 1) (key in where ? where[key] : substr($0, RSTART, RLENGTH))
				$0 = substr($0, RSTART + RLENGTH)
			}
			print out $0
		}' "$text"
}
