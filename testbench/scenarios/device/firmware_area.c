/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device whose firmware wants more memory than a mailbox can name, from a host that has single pages
 * only: the driver gives it with several commands. Our firmware wants one page, so nothing else shows the
 * end of a mailbox.
 */
/* behaviours: HCA-answers */
#include "testbench/scenarios/device/other_device.h"

enum { AREA_PAGES = 2 * VPM_ENTRIES_MAX + 88 };

static void area_large(struct query_fw *q)
{
	query_fw_set_fw_pages(q, AREA_PAGES);
}

/* Two mailboxes are just full. */
static void area_even(struct query_fw *q)
{
	query_fw_set_fw_pages(q, 2 * VPM_ENTRIES_MAX);
}

SCENARIO(firmware_area, "firmware that wants more pages than a mailbox can name", .bare = true,
	 .settings = {"host.largest_piece=4KiB"}, .of_mlx4 = "answers of commands")
{
	static const struct {
		struct device device;
		unsigned pages;
	} rows[] = {
		{{"two mailboxes and a part", .firmware = area_large}, AREA_PAGES},
		{{"two mailboxes", .firmware = area_even}, 2 * VPM_ENTRIES_MAX},
	};
	const struct drv_options options = {.log_eq_size = 8, .no_ports = true};

	answers_begin(a);
	for_each_row(i, rows) {
		struct drv_device *dev;

		name_row("%s", rows[i].device.name);
		must(come_up(a, &rows[i].device, &options, &dev));
		if (!still_right())
			break;
		expect_that(host_pages_used(a->host), >=, rows[i].pages);
		go(tb, a, dev);
	}
	answers_end(a);
}
