/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static rates of an address path or address vector: R(code, Mb/s, multiple, speed of a lane, lanes).
 * The code is that of a PathRecord's Rate (IBA 15.2.5.16) and of enum ibv_rate; codes are not in the
 * order of the rates. Mb/s are those on the lanes, with their coding. The multiple is libibverbs' of
 * 2.5 Gb/s, -1 for a rate that it has none for (ibv_rate_to_mult). mlx4 uses the code plus
 * STATIC_RATE_OFFSET, and 0 for the port's own rate.
 */
#ifndef MODEL_INTERFACE_STATIC_RATES_H
#define MODEL_INTERFACE_STATIC_RATES_H

enum { STATIC_RATE_OFFSET = 5 };

/* clang-format off */
#define STATIC_RATES(R) \
	R( 2,    2500,   1, SDR,  1) \
	R( 3,   10000,   4, SDR,  4) \
	R( 4,   30000,  12, SDR, 12) \
	R( 5,    5000,   2, DDR,  1) \
	R( 6,   20000,   8, DDR,  4) \
	R( 7,   40000,  16, QDR,  4) \
	R( 8,   60000,  24, DDR, 12) \
	R( 9,   80000,  32, QDR,  8) \
	R(10,  120000,  48, QDR, 12) \
	R(11,   14062,  -1, FDR,  1) \
	R(12,   56250,  -1, FDR,  4) \
	R(13,  112500,  -1, FDR,  8) \
	R(14,  168750,  -1, FDR, 12) \
	R(15,   25781,  -1, EDR,  1) \
	R(16,  103125,  -1, EDR,  4) \
	R(17,  206250,  -1, EDR,  8) \
	R(18,  309375,  -1, EDR, 12) \
	R(19,   28125,  11, FDR,  2) \
	R(20,   53125,  20, HDR,  1) \
	R(21,  425000, 160, HDR,  8) \
	R(22,  637500, 240, HDR, 12) \
	R(23,  850000, 320, NDR,  8) \
	R(24, 1275000, 480, NDR, 12)
/* clang-format on */

#endif
