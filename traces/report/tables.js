// The tables: counters, commands, configuration.

function table(id, head, rows) {
	const cell = (tag, text, i) => element(tag, {class: head[i].startsWith('#') ? 'n' : i ? '' : 'key'}, text);

	$(id).replaceChildren(element('thead', null, element('tr', null, ...head.map((h, i) => cell('th', h.replace('#', ''), i)))),
		element('tbody', null, ...rows.map((r) => element('tr', null, ...r.map((c, i) => cell('td', c, i))))));
}

function countersDraw() {
	const stats = jsonOf(raw.stats) || {}, filter = $('counter-filter').value.toLowerCase(), rows = new Map();

	for (const [key, value] of Object.entries(stats)) {
		const at = key.indexOf('.'), name = key.slice(at + 1), side = Number(key.slice(3, at));

		if (!rows.has(name))
			rows.set(name, [0, 0]);
		rows.get(name)[side] = value;
	}
	table('counters', ['counter', '#hca0', '#hca1', 'meaning'], [...rows].filter(([name, v]) => name.includes(filter) && (v[0] || v[1] || $('zeros').checked))
		.map(([name, v]) => [name, group(v[0]), group(v[1]), raw.meanings[name] || '']));
}

function commandsDraw() {
	const groups = new Map();

	for (const [, name, , took] of raw.commands) {
		if (!groups.has(name))
			groups.set(name, {n: 0, sum: 0, most: 0, done: 0});
		const g = groups.get(name);

		g.n++;
		if (took >= 0) {
			g.done++;
			g.sum += took;
			g.most = Math.max(g.most, took);
		}
	}
	table('commands', ['command', '#count', '#mean', '#longest'], [...groups].sort((a, b) => b[1].n - a[1].n)
		.map(([name, g]) => [texts[name], String(g.n), g.done ? duration(g.sum / g.done) : '', g.done ? duration(g.most) : '']));
}

// Reads config.ini. In it, comments come before the key that they explain.
function configRows(text) {
	const rows = [];
	let section = '', meaning = [];

	for (const line of text.split('\n')) {
		const found = line.match(/^\[(.*)\]$/), setting = line.match(/^([^#=\s]+) = (.*)$/);

		if (found) {
			section = found[1];
			meaning = [];
		} else if (setting) {
			rows.push([`${section}.${setting[1]}`, setting[2], meaning.join('; ')]);
			meaning = [];
		} else if (line.startsWith('#')) {
			meaning.push(line.slice(1).trim());
		} else {
			meaning = [];
		}
	}
	return rows;
}

const defaults = new Map(configRows(raw.defaults).map(([name, value]) => [name, value]));

function configDraw() {
	const filter = $('config-filter').value.toLowerCase();
	const preset = (name) => defaults.get(name.replace(/^(hca|host)[01]/, '$1'));
	const rows = configRows(raw.config).map(([name, value, meaning]) => [name, value, preset(name), meaning])
		.filter((r) => (!$('changed').checked || r[1] !== r[2]) && r.join(' ').toLowerCase().includes(filter));

	table('config', ['parameter', '#value', '#default', 'meaning; source'], rows);
	rows.forEach((r, i) => $('config').tBodies[0].rows[i].classList.toggle('changed', r[1] !== r[2]));
}

function tablesInit() {
	$('counter-filter').addEventListener('input', countersDraw);
	$('zeros').addEventListener('change', countersDraw);
	$('config-filter').addEventListener('input', configDraw);
	$('changed').addEventListener('change', configDraw);
	countersDraw();
	commandsDraw();
	configDraw();
}
