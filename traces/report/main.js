// The head of the page, its controls, and the start.

function tile(value, name, bad) {
	return element('div', {class: bad ? 'tile bad' : 'tile'}, element('b', null, value), element('span', null, name));
}

function headInit() {
	const seed = raw.config.match(/^seed = (.*)$/m), body = (run.phases || []).filter((p) => p.name !== 'bring-up' && p.name !== 'tear-down');
	const payload = body.reduce((n, p) => n + p.payload_bytes, 0), took = body.reduce((n, p) => n + p.takes_ps, 0);
	const guestErrors = marks.filter((m) => m.kind === 2).length;
	const resent = packets.flags.reduce((n, f) => n + ((f & FLAG.RESENT) !== 0), 0);

	document.title = run.scenario + ' \u2013 hcasim';
	$('name').textContent = run.scenario;
	$('shows').textContent = (run.shows || '') + (seed ? ` \u00b7 seed ${seed[1]}` : '');
	if (run.passed !== undefined) {
		$('verdict').textContent = run.passed ? 'passed' : 'failed';
		$('verdict').classList.add(run.passed ? 'good' : 'bad');
	} else {
		$('verdict').hidden = true;
	}
	$('failure').textContent = run.failure || '';
	$('failure').hidden = !run.failure;
	$('told').textContent = run.told || '';
	$('told').hidden = !run.told;
	$('tiles').append(tile(duration(run.simulated_ps || raw.end), 'simulated'), tile(group(packets.n), 'packets'),
		tile(group(countKind('lost')), 'lost', countKind('lost') > 0), tile(group(resent), 'sent again', resent > 0),
		tile(group(countKind('nak')), 'NAKs', countKind('nak') > 0), tile(group(messages.length), 'messages'));
	if (guestErrors)
		$('tiles').append(tile(group(guestErrors), 'guest errors', true));
	if (took)
		$('tiles').append(tile(duration(took), 'body of the run'), tile(bytesText(payload), 'payload'),
			tile(rateText(payload * 8e3 / took), 'throughput'));
}

// Makes a button for the whole run, one for all phases except bring-up and tear-down, and one for each phase that takes time. At
// first the page shows all phases except bring-up and tear-down.
function phasesInit() {
	if (!raw.phases.length) // the run has no records
		raw.phases = (run.phases || []).map((p) => [p.begin_ps, p.name]);
	const list = raw.phases.map(([begin, name], k) => ({name, begin, end: k + 1 < raw.phases.length ? raw.phases[k + 1][0] : raw.end}))
		.filter((p) => p.end > p.begin);
	const choose = (button, begin, end) => {
		for (const b of $('phases').children)
			b.setAttribute('aria-pressed', String(b === button));
		viewPhase(begin, end);
	};
	const add = (name, begin, end) => {
		const button = element('button', {type: 'button', title: duration(end - begin), onclick: () => choose(button, begin, end)}, name);

		$('phases').append(button);
		return () => choose(button, begin, end);
	};
	const whole = add('whole run', 0, raw.end);
	const inner = list.filter((p) => p.name !== 'bring-up' && p.name !== 'tear-down');
	const all = inner.length > 1 ? add('all but bring-up and tear-down', inner[0].begin, inner[inner.length - 1].end) : null;
	const starts = list.map((p) => [p, add(p.name, p.begin, p.end)]);

	(all || (inner.length ? starts.find(([p]) => p === inner[0])[1] : whole))();
}

function qpInit() {
	const counts = new Map();
	const count = (hca, qpn) => counts.set(hca * 2 ** 24 + qpn, (counts.get(hca * 2 ** 24 + qpn) || 0) + 1);

	for (let i = 0; i < packets.n; i++) {
		count(packets.hca[i], packets.from[i]);
		count(1 - packets.hca[i], packets.qp[i]);
	}
	$('qp').append(element('option', {value: ''}, 'all'), ...[...counts].sort((a, b) => b[1] - a[1])
		.map(([key, n]) => element('option', {value: key}, `hca${Math.floor(key / 2 ** 24)} ${hex(key % 2 ** 24)} (${group(n)})`)));
	$('qp').addEventListener('change', (e) => {
		const key = Number(e.target.value);

		view.qp = e.target.value === '' ? null : {hca: Math.floor(key / 2 ** 24), qpn: key % 2 ** 24, text: e.target.value};
		viewFilter();
	});
}

function kindsInit() {
	$('kinds').append(...KINDS.map((kind, k) => {
		const swatch = element('i', {class: 'swatch'});
		const button = element('button', {type: 'button', class: 'kind', 'aria-pressed': 'true', onclick: () => {
			view.kinds[k] = !view.kinds[k];
			button.setAttribute('aria-pressed', String(view.kinds[k]));
			viewFilter();
		}}, swatch, kind.title);

		swatch.style.background = `var(--${kind.name})`;
		return button;
	}));
}

function buttonsInit() {
	const actions = {in: () => viewZoom(0.5), out: () => viewZoom(2), fit: () => viewShow(view.begin, view.end), previous: () => viewTrouble(false), next: () => viewTrouble(true)};

	for (const button of document.querySelectorAll('[data-do]'))
		button.addEventListener('click', actions[button.dataset.do]);
}

// The theme is the system's until the user presses the button.
function themeInit() {
	const dark = matchMedia('(prefers-color-scheme: dark)');
	let chosen = null;
	const apply = () => {
		document.documentElement.dataset.theme = chosen || (dark.matches ? 'dark' : 'light');
		$('theme').textContent = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
		readColours();
		viewChanged();
	};

	$('theme').addEventListener('click', () => {
		chosen = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
		apply();
	});
	dark.addEventListener('change', apply);
	apply();
}

themeInit();
headInit();
tablesInit();
view.listeners.push(viewWords);
overviewInit();
ladderInit();
listInit();
chartsInit();
stagesInit();
qpInit();
kindsInit();
buttonsInit();
phasesInit();
viewFilter();
window.addEventListener('resize', viewChanged);
