# SPDX-License-Identifier: Apache-2.0
# See folds.sh. Reads the parameters, then the points at present values. folder/KEY.csv has the points
# with the parameter KEY changed.

function clamp(x, low, high) { return x < low ? low : x > high ? high : x }
function magnitude(x) { return x < 0 ? -x : x }

# Fits without point `out` by least squares; the result is steps[], the change of each parameter's
# logarithm. A step as wide as the parameter's range weighs as much as an error of 10 %.
function fit(out,   i, p, q, k, factor) {
	for (p = 1; p <= n; p++) {
		for (q = 1; q <= n; q++)
			m[p, q] = all[p, q] - (out ? slope[out, p] * slope[out, q] : 0)
		m[p, p] += (0.1 / width[p]) ^ 2
		m[p, n + 1] = right[p] - (out ? slope[out, p] * error[out] : 0)
	}
	for (k = 1; k <= n; k++)
		for (p = 1; p <= n; p++) {
			if (p == k)
				continue
			factor = m[p, k] / m[k, k]
			for (q = k; q <= n + 1; q++)
				m[p, q] -= factor * m[k, q]
		}
	for (p = 1; p <= n; p++)
		steps[p] = clamp(m[p, n + 1] / m[p, p], low[p], high[p])
}

# The remaining error of point i.
function remains(i,   p, rest) {
	rest = error[i]
	for (p = 1; p <= n; p++)
		rest -= slope[i, p] * steps[p]
	return 100 * (exp(-rest) - 1)
}

FILENAME == ARGV[1] {
	n++
	key[n] = $1
	change[n] = log($5 / $2)
	low[n] = log($3 / $2)
	high[n] = log($4 / $2)
	width[n] = high[n] - low[n]
	next
}
FNR == 1 { FS = "," }
FNR > 1 {
	split($0, field, ",")
	if (field[1] !~ /^[BMQ]/ || field[3] == "" || field[4] == "")
		next
	id[++points] = field[1]
	value[field[1]] = field[4]
	error[points] = log(field[3] / field[4])
}
END {
	for (p = 1; p <= n; p++) {
		file = folder "/" key[p] ".csv"
		while ((getline line <file) > 0) {
			split(line, field, ",")
			if (field[4] + 0 > 0)
				changed[field[1], p] = field[4]
		}
		close(file)
	}
	for (i = 1; i <= points; i++)
		for (p = 1; p <= n; p++)
			slope[i, p] = log(changed[id[i], p] / value[id[i]]) / change[p]
	for (i = 1; i <= points; i++)
		for (p = 1; p <= n; p++) {
			right[p] += slope[i, p] * error[i]
			for (q = 1; q <= n; q++)
				all[p, q] += slope[i, p] * slope[i, q]
		}
	printf "leave one out: %d parameters, %d points; error %% as it is, and predicted by the others\n", n, points
	for (i = 1; i <= points; i++) {
		fit(i)
		now = 100 * (exp(-error[i]) - 1)
		rest = remains(i)
		kind = substr(id[i], 1, 1)
		count[kind]++
		sum_now[kind] += magnitude(now)
		sum_out[kind] += magnitude(rest)
		if (magnitude(rest) > 8)
			printf "  %-4s %6.1f %6.1f\n", id[i], now, rest
	}
	name["B"] = "bandwidth"; name["M"] = "message rate"; name["Q"] = "QP scaling"
	for (k = 1; k <= 3; k++) {
		kind = substr("BMQ", k, 1)
		if (count[kind])
			printf "  %-14s %5.1f %% as it is, %5.1f %% left out, %d points\n", name[kind],
				sum_now[kind] / count[kind], sum_out[kind] / count[kind], count[kind]
	}
}
