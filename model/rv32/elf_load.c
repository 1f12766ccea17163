/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads executables into RAM. The whole file is read first, so that a file that changes during the
 * load does no harm. Everything is checked before the first byte of RAM is written.
 */
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/rv32/rv32_core.h"

enum { FILE_BYTES_MAX = 256 << 20 };

struct image {
	const char *path;
	char *err;
	size_t err_size;
	uint8_t *bytes;
	size_t size;
	Elf *elf;
	const Elf32_Ehdr *ehdr;
	const Elf32_Phdr *phdr;
	size_t phdrs;
};

static int bad(const struct image *image, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int bad(const struct image *image, int code, const char *format, ...)
{
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (image->err_size)
		snprintf(image->err, image->err_size, "%s: %s", image->path, what);
	return code;
}

static int read_all(struct image *image, int fd)
{
	struct stat st;
	size_t got = 0;

	if (fstat(fd, &st))
		return bad(image, -errno, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return bad(image, -EINVAL, "not a regular file");
	if (st.st_size > FILE_BYTES_MAX)
		return bad(image, -EFBIG, "larger than %d MiB", FILE_BYTES_MAX >> 20);
	image->bytes = malloc((size_t)st.st_size + 1);
	if (!image->bytes)
		return bad(image, -ENOMEM, "no memory");
	while (got < (size_t)st.st_size) {
		ssize_t n = read(fd, image->bytes + got, (size_t)st.st_size - got);

		if (n < 0)
			return bad(image, -errno, "%s", strerror(errno));
		if (!n)
			break;
		got += (size_t)n;
	}
	image->size = got;
	return 0;
}

static bool in_file(const struct image *image, uint64_t offset, uint64_t bytes)
{
	return offset <= image->size && bytes <= image->size - offset;
}

static int check_header(struct image *image)
{
	const uint8_t *id = image->bytes;
	const Elf32_Ehdr *ehdr;

	if (image->size < EI_NIDENT || memcmp(id, ELFMAG, SELFMAG))
		return bad(image, -ENOEXEC, "not an ELF file");
	if (id[EI_CLASS] != ELFCLASS32 || id[EI_DATA] != ELFDATA2LSB)
		return bad(image, -ENOEXEC, "not a 32-bit little-endian ELF file");
	if (image->size < sizeof(Elf32_Ehdr))
		return bad(image, -ENOEXEC, "truncated: %zu bytes, the ELF header needs %zu",
			   image->size, sizeof(Elf32_Ehdr));
	elf_version(EV_CURRENT);
	image->elf = elf_memory((char *)image->bytes, image->size);
	ehdr = image->elf ? elf32_getehdr(image->elf) : NULL;
	if (!ehdr)
		return bad(image, -ENOEXEC, "broken ELF header: %s", elf_errmsg(-1));
	image->ehdr = ehdr;
	if (ehdr->e_machine != EM_RISCV)
		return bad(image, -ENOEXEC, "not for RISC-V (ELF machine %u)", ehdr->e_machine);
	if (ehdr->e_type != ET_EXEC)
		return bad(image, -ENOEXEC, "not a linked executable (ELF type %u)", ehdr->e_type);
	if (!ehdr->e_phnum || !ehdr->e_phoff)
		return bad(image, -ENOEXEC, "no program headers");
	if (ehdr->e_phentsize != sizeof(Elf32_Phdr) || ehdr->e_phnum == PN_XNUM ||
	    ehdr->e_phoff % sizeof(uint32_t))
		return bad(image, -ENOEXEC, "broken program header table");
	if (!in_file(image, ehdr->e_phoff, (uint64_t)ehdr->e_phnum * sizeof(Elf32_Phdr)))
		return bad(image, -ENOEXEC,
			   "truncated: program headers end at %llu, the file at %zu",
			   (unsigned long long)ehdr->e_phoff + ehdr->e_phnum * sizeof(Elf32_Phdr),
			   image->size);
	if (ehdr->e_shoff % sizeof(uint32_t) ||
	    (ehdr->e_shoff && ehdr->e_shnum && ehdr->e_shentsize != sizeof(Elf32_Shdr)))
		return bad(image, -ENOEXEC, "broken section header table");
	if (ehdr->e_shoff &&
	    !in_file(image, ehdr->e_shoff, (uint64_t)ehdr->e_shnum * ehdr->e_shentsize))
		return bad(image, -ENOEXEC,
			   "truncated: section headers end at %llu, the file at %zu",
			   (unsigned long long)ehdr->e_shoff + ehdr->e_shnum * ehdr->e_shentsize,
			   image->size);
	return 0;
}

static bool loads(const Elf32_Phdr *phdr)
{
	return phdr->p_type == PT_LOAD && phdr->p_memsz;
}

static bool overlap(const Elf32_Phdr *a, const Elf32_Phdr *b)
{
	return a->p_paddr < (uint64_t)b->p_paddr + b->p_memsz &&
	       b->p_paddr < (uint64_t)a->p_paddr + a->p_memsz;
}

static int check_segment(const struct image *image, size_t n)
{
	const Elf32_Phdr *phdr = &image->phdr[n];

	if (phdr->p_filesz > phdr->p_memsz)
		return bad(image, -ENOEXEC, "segment %zu: %u bytes in the file, %u in memory", n,
			   phdr->p_filesz, phdr->p_memsz);
	if (!in_file(image, phdr->p_offset, phdr->p_filesz))
		return bad(image, -ENOEXEC, "truncated: segment %zu ends at %llu, the file at %zu",
			   n, (unsigned long long)phdr->p_offset + phdr->p_filesz, image->size);
	if (phdr->p_memsz - 1 > UINT32_MAX - phdr->p_paddr)
		return bad(image, -ENOEXEC,
			   "segment %zu: %u bytes at 0x%08x, outside the address space", n,
			   phdr->p_memsz, phdr->p_paddr);
	for (size_t m = 0; m < n; m++)
		if (loads(&image->phdr[m]) && overlap(phdr, &image->phdr[m]))
			return bad(image, -ENOEXEC, "segments %zu and %zu overlap", m, n);
	return 0;
}

static int check_segments(struct image *image, struct rv_extent *extent)
{
	bool entry_loaded = false;
	size_t count = 0;

	extent->entry = image->ehdr->e_entry;
	for (size_t n = 0; n < image->phdrs; n++) {
		const Elf32_Phdr *phdr = &image->phdr[n];
		uint32_t last = phdr->p_paddr + phdr->p_memsz - 1;
		int rc;

		if (!loads(phdr))
			continue;
		rc = check_segment(image, n);
		if (rc)
			return rc;
		if (!count++ || phdr->p_paddr < extent->first)
			extent->first = phdr->p_paddr;
		if (count == 1 || last > extent->last)
			extent->last = last;
		if (extent->entry >= phdr->p_paddr && extent->entry - phdr->p_paddr < phdr->p_memsz)
			entry_loaded = true;
	}
	if (!count)
		return bad(image, -ENOEXEC, "no segment to load");
	if (!entry_loaded || extent->entry & 1)
		return bad(image, -ENOEXEC, "entry 0x%08x is not an address of code",
			   extent->entry);
	return 0;
}

static int image_open(struct image *image, struct rv_extent *extent)
{
	int fd = open(image->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int rc;

	if (fd < 0)
		return bad(image, -errno, "%s", strerror(errno));
	rc = read_all(image, fd);
	close(fd);
	if (rc)
		return rc;
	rc = check_header(image);
	if (rc)
		return rc;
	image->phdr = elf32_getphdr(image->elf);
	if (!image->phdr || elf_getphdrnum(image->elf, &image->phdrs))
		return bad(image, -ENOEXEC, "broken program headers: %s", elf_errmsg(-1));
	return check_segments(image, extent);
}

static void image_close(struct image *image)
{
	elf_end(image->elf);
	free(image->bytes);
}

static bool is_code(Elf *elf, const Elf32_Sym *sym)
{
	unsigned type = ELF32_ST_TYPE(sym->st_info);
	Elf_Scn *scn = sym->st_shndx < SHN_LORESERVE ? elf_getscn(elf, sym->st_shndx) : NULL;
	const Elf32_Shdr *shdr = scn ? elf32_getshdr(scn) : NULL;

	return (type == STT_FUNC || type == STT_NOTYPE) && shdr && shdr->sh_flags & SHF_EXECINSTR;
}

/* Leaves out assembler labels (.L1) and mapping symbols ($x): their names tell a reader nothing. */
static bool wanted(const Elf32_Sym *sym, const char *name)
{
	unsigned type = ELF32_ST_TYPE(sym->st_info);

	return name && name[0] && name[0] != '$' && strncmp(name, ".L", 2) &&
	       sym->st_shndx != SHN_UNDEF &&
	       (type == STT_FUNC || type == STT_NOTYPE || type == STT_OBJECT);
}

static int by_address(const void *a, const void *b)
{
	const struct rv_symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int read_symbols(const struct image *image, Elf_Scn *scn, struct rv_symbols *symbols)
{
	const Elf32_Shdr *shdr = elf32_getshdr(scn);
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t count = data && data->d_buf ? data->d_size / sizeof(Elf32_Sym) : 0;
	const Elf32_Sym *sym = count ? data->d_buf : NULL;
	size_t bytes = 0;
	char *to;

	for (size_t i = 0; i < count; i++) {
		const char *name = elf_strptr(image->elf, shdr->sh_link, sym[i].st_name);

		bytes += wanted(&sym[i], name) ? strlen(name) + 1 : 0;
	}
	if (!bytes)
		return 0;
	symbols->row = calloc(count, sizeof(*symbols->row));
	symbols->names = malloc(bytes);
	if (!symbols->row || !symbols->names)
		return bad(image, -ENOMEM, "no memory");
	to = symbols->names;
	for (size_t i = 0; i < count; i++) {
		const char *name = elf_strptr(image->elf, shdr->sh_link, sym[i].st_name);

		if (!wanted(&sym[i], name))
			continue;
		symbols->row[symbols->count++] = (struct rv_symbol){
			to, sym[i].st_value, sym[i].st_size, is_code(image->elf, &sym[i])};
		to = stpcpy(to, name) + 1;
	}
	qsort(symbols->row, symbols->count, sizeof(*symbols->row), by_address);
	return 0;
}

static int load_symbols(const struct image *image, struct rv_symbols *symbols)
{
	for (Elf_Scn *scn = elf_nextscn(image->elf, NULL); scn;
	     scn = elf_nextscn(image->elf, scn)) {
		const Elf32_Shdr *shdr = elf32_getshdr(scn);

		if (shdr && shdr->sh_type == SHT_SYMTAB)
			return read_symbols(image, scn, symbols);
	}
	return 0;
}

int rv_elf_extent(const char *path, struct rv_extent *extent, char *err, size_t err_size)
{
	struct image image = {.path = path, .err = err, .err_size = err_size};
	struct rv_extent found = {0};
	int rc = image_open(&image, &found);

	if (!rc)
		*extent = found;
	image_close(&image);
	return rc;
}

static int check_fits(const struct image *image, const struct rv_core *core)
{
	for (size_t n = 0; n < image->phdrs; n++) {
		const Elf32_Phdr *phdr = &image->phdr[n];

		if (loads(phdr) && !rv_in_ram(core, phdr->p_paddr, phdr->p_memsz))
			return bad(image, -ENOEXEC,
				   "segment %zu, 0x%08x to 0x%08x, is outside memory (0x%08x to "
				   "0x%08x)",
				   n, phdr->p_paddr, phdr->p_paddr + phdr->p_memsz - 1,
				   core->ram_base, core->ram_base + core->ram_size - 1);
	}
	return 0;
}

static void copy_segments(const struct image *image, struct rv_core *core)
{
	for (size_t n = 0; n < image->phdrs; n++) {
		const Elf32_Phdr *phdr = &image->phdr[n];
		uint8_t *to = core->ram + (phdr->p_paddr - core->ram_base);

		if (!loads(phdr))
			continue;
		memcpy(to, image->bytes + phdr->p_offset, phdr->p_filesz);
		memset(to + phdr->p_filesz, 0, phdr->p_memsz - phdr->p_filesz);
	}
	rv_core_flush_decoded(core);
}

int rv_core_load_elf(struct rv_core *core, const char *path, uint32_t *entry, char *err,
		     size_t err_size)
{
	struct image image = {.path = path, .err = err, .err_size = err_size};
	struct rv_symbols symbols = {0};
	struct rv_extent extent = {0};
	int rc = image_open(&image, &extent);

	if (!rc)
		rc = check_fits(&image, core);
	if (!rc)
		rc = load_symbols(&image, &symbols);
	if (rc) {
		rv_symbols_free(&symbols);
		goto out;
	}
	copy_segments(&image, core);
	rv_symbols_free(&core->symbols);
	core->symbols = symbols;
	*entry = extent.entry;
out:
	image_close(&image);
	return rc;
}
