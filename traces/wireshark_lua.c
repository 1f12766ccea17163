/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a Wireshark dissector in Lua from the rows of model/interface/cm.h. It is for those
 * messages of connection management that Wireshark itself knows only by number (MRA, LAP, APR,
 * SIDR_REQ, SIDR_REP). Use: tshark -X lua_script:build/hcasim_cm.lua -r packets.pcapng
 */
#include "model/interface/rows.h"
#include "model/interface/macros.h"

#include <stdio.h>

static const struct {
	enum cm_attr attr;
	const char *name;
	const struct layout *l;
} messages[] = {
	{CM_ATTR_MRA, "MRA", &layout_cm_mra},
	{CM_ATTR_LAP, "LAP", &layout_cm_lap},
	{CM_ATTR_APR, "APR", &layout_cm_apr},
	{CM_ATTR_SIDR_REQ, "SIDR_REQ", &layout_cm_sidr_req},
	{CM_ATTR_SIDR_REP, "SIDR_REP", &layout_cm_sidr_rep},
};

/* A field: a range of bytes, or bits of a word. `base` is where its layout begins in the MAD. */
static void field(const struct layout *l, const struct field_row *f, unsigned base)
{
	const unsigned at = base + f->offset;

	if (!f->width) {
		printf("\t{%u, %u, ProtoField.bytes(\"hcasim.%s.%s\", \"%s\")},\n", at, f->size,
		       l->name, f->name, f->meaning);
		return;
	}
	printf("\t{%u, %u, ProtoField.uint%u(\"hcasim.%s.%s\", \"%s\", base.HEX", at, f->width / 8U,
	       f->width, l->name, f->name, f->meaning);
	if (f->hi - f->lo + 1 < f->width)
		printf(", nil, 0x%llx", (unsigned long long)FIELD_MASK(f->hi, f->lo));
	printf(")},\n");
}

static void fields(const struct layout *l, unsigned base)
{
	for (unsigned i = 0; i < l->n; i++) {
		const struct field_row *f = &l->rows[i];

		if (f->kind == FIELD_KIND_LAYOUT && f->inner != &layout_mad_hdr)
			fields(f->inner, base + f->offset);
		else if (f->kind != FIELD_KIND_LAYOUT)
			field(l, f, base);
	}
}

int main(void)
{
	puts("local cm = Proto(\"hcasim_cm\", \"InfiniBand connection management\")");
	puts("local messages = {}");
	for (size_t i = 0; i < ARRAY_SIZE(messages); i++) {
		printf("messages[0x%x] = {name = \"%s\", fields = {\n", messages[i].attr,
		       messages[i].name);
		fields(messages[i].l, 0);
		puts("}}");
	}
	puts("local all = {}\n"
	     "for _, m in pairs(messages) do for _, f in ipairs(m.fields) do all[#all + 1] = f[3] "
	     "end end\n"
	     "cm.fields = all\n"
	     "local class = Field.new(\"infiniband.mad.mgmtclass\")\n"
	     "local attr = Field.new(\"infiniband.mad.attributeid\")\n"
	     "function cm.dissector(buffer, info, tree)\n"
	     "\tlocal c, a = class(), attr()\n"
	     "\tif not c or not a or c.value ~= 7 then return end\n"
	     "\tlocal m = messages[a.value]\n"
	     "\tlocal start = c.offset - 1\n"
	     "\tif not m or start + 256 > buffer:len() then return end\n"
	     "\tlocal t = tree:add(cm, buffer(start, 256), \"CM \" .. m.name)\n"
	     "\tfor _, f in ipairs(m.fields) do t:add(f[3], buffer(start + f[1], f[2])) end\n"
	     "\tinfo.cols.info:append(\" \" .. m.name)\n"
	     "end\n"
	     "register_postdissector(cm)");
	return 0;
}
