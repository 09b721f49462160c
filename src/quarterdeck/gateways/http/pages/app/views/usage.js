/** What was used: cost and tokens by day, model, session and folder. */

import { deck } from '../deck.js';
import { h, html, useEffect, useState } from '../lib.js';
import { Time, allTokens, count, money, shortModel } from '../parts/format.js';
import { baseName, marked, visible } from '../parts/text.js';
import { sayError } from '../parts/toasts.js';
import { link } from '../router.js';

/** @typedef {{cost_usd: string, tokens: import('../store/types.js').TokenCounts, by: Record<string, string>}} UsageRow */
/** @typedef {{status: string, kind?: string, used?: number, resets_at?: number, windows?: Record<string, number>}} Limit */

const SPANS = { 7: '7 days', 30: '30 days', 90: '90 days' };

export function Usage() {
  const [days, setDays] = useState(30);
  const [measure, setMeasure] = useState('cost');
  const [found, setFound] = useState(/** @type {Record<string, UsageRow[]> | null} */ (null));
  const [budgets, setBudgets] = useState(/** @type {any} */ (null));
  const [accounts, setAccounts] = useState(/** @type {Record<string, Record<string, Limit>>} */ ({}));
  useEffect(() => {
    let wanted = true;
    const from = new Date(Date.now() - (days - 1) * 86_400_000).toISOString();
    const by = ['day', 'model', 'session', 'cwd'];
    const asking = Promise.all(by.map((one) => deck().call('get_usage', { by: [one], from })));
    asking.then((answers) => wanted && setFound(Object.fromEntries(by.map((name, at) => [name, answers[at].usage])))).catch(sayError);
    deck().call('get_budgets').then((told) => wanted && setBudgets(told), () => {});
    deck().call('get_limits').then((told) => wanted && setAccounts(told.accounts), () => {});
    return () => {
      wanted = false;
    };
  }, [days, deck().connection.reconnects.value]);
  const value = (/** @type {UsageRow} */ row) => (measure === 'cost' ? Number(row.cost_usd) : allTokens(row.tokens));
  const shown = (/** @type {number} */ amount) => (measure === 'cost' ? money(amount) : count(amount));
  const { host } = deck();
  return html`<div class="page">
    <header class="bar"><h1>Usage</h1><span class="gap" />
      <div class="choice" role="group" aria-label="Measure">${['cost', 'tokens'].map((one) => html`<button class="quiet" aria-pressed=${measure === one} onClick=${() => setMeasure(one)}>${one}</button>`)}</div>
      <div class="choice" role="group" aria-label="Time span">${Object.entries(SPANS).map(([span, title]) => html`<button class="quiet" aria-pressed=${days === Number(span)} onClick=${() => setDays(Number(span))}>${title}</button>`)}</div>
    </header>
    <div class="scroll padded">
      ${budgets && (budgets.day_usd || budgets.month_usd) ? html`<section class="budgets"><${Budget} name="Today" spent=${budgets.spent?.day_usd} limit=${budgets.day_usd} /><${Budget} name="This month" spent=${budgets.spent?.month_usd} limit=${budgets.month_usd} /></section>` : null}
      <${Accounts} accounts=${accounts} />
      ${found && html`<${Counts} rows=${found.day} simulated=${simulated(found.session)} />
      <${Days} rows=${found.day} days=${days} value=${value} shown=${shown} />
      <div class="grid">
        <${Ranking} title="By model" rows=${found.model} name=${(/** @type {UsageRow} */ row) => marked(shortModel(row.by.model) || 'unknown')} value=${value} shown=${shown} />
        <${Ranking} title="By folder" rows=${found.cwd} name=${(/** @type {UsageRow} */ row) => html`<span title=${visible(row.by.cwd)}>${marked(baseName(row.by.cwd))}</span>`} value=${value} shown=${shown} />
        <${Ranking} title="By session" rows=${found.session} name=${(/** @type {UsageRow} */ row) => html`<a href=${link('session', row.by.session)}>${marked(host.sessions.value.get(row.by.session)?.name || row.by.session.slice(0, 8))}</a>`} value=${value} shown=${shown} />
      </div>`}
    </div>
  </div>`;
}

/** @param {{name: string, spent: string, limit: string | null}} props */
function Budget({ name, spent, limit }) {
  if (!limit) return null;
  return html`<p><span>${name}: ${money(spent)} of ${money(limit)}</span><meter min="0" max=${Number(limit)} high=${0.8 * Number(limit)} optimum="0" value=${Number(spent)} aria-label=${`${name}: ${money(spent)} of ${money(limit)}`} /></p>`;
}

/** How much of each account's rate limits is used. @param {{accounts: Record<string, Record<string, Limit>>}} props */
function Accounts({ accounts }) {
  const rows = Object.entries(accounts).flatMap(([account, windows]) => Object.values(windows).flatMap((limit) => gauges(account, limit)));
  if (!rows.length) return null;
  return html`<section class="budgets" aria-label="Rate limits">${rows.map(({ account, window, used, limit }) => {
    const told = `${account || 'Account'}, ${window}: ${used === undefined ? limit.status.replaceAll('_', ' ') : `${Math.round(100 * used)} % used`}`;
    return html`<p class=${limit.status === 'rejected' ? 'problem' : ''}><span>${marked(told)}${limit.resets_at ? html`, <span class="dim">resets <${Time} at=${limit.resets_at} exact=${true} /></span>` : null}</span>
      ${used === undefined ? null : html`<meter min="0" max="1" high="0.8" optimum="0" value=${used} aria-label=${visible(told)} />`}</p>`;
  })}</section>`;
}

/** @type {Record<string, string>} */
const WINDOWS = { five_hour: 'five hours', seven_day: 'seven days', seven_day_opus: 'seven days of Opus', seven_day_sonnet: 'seven days of Sonnet', overage: 'extra usage' };

/** The window that was told about, and those told beside it. @param {string} account @param {Limit} limit */
function gauges(account, limit) {
  const windows = Object.entries({ ...(limit.kind ? { [limit.kind]: limit.used ?? undefined } : {}), ...(limit.windows ?? {}) });
  return windows.map(([window, used]) => ({ account, window: WINDOWS[window] ?? window.replaceAll('_', ' '), used, limit }));
}

/** What sessions on the simulator cost: nothing was paid for them. @param {UsageRow[]} rows Those by session. */
function simulated(rows) {
  const { sessions } = deck().host;
  return rows.reduce((total, row) => total + (sessions.value.get(row.by.session)?.agent === 'sim' ? Number(row.cost_usd) : 0), 0);
}

/** All kinds of tokens, apart. @param {{rows: UsageRow[], simulated: number}} props */
function Counts({ rows, simulated }) {
  const sum = (/** @type {keyof import('../store/types.js').TokenCounts} */ kind) => rows.reduce((total, row) => total + (row.tokens[kind] ?? 0), 0);
  const facts = [
    ['Cost', html`${money(rows.reduce((total, row) => total + Number(row.cost_usd), 0))}${simulated ? html`<small class="dim simulated"> ${money(simulated)} simulated</small>` : null}`],
    ['Input', count(sum('input'))],
    ['Output', count(sum('output'))],
    ['Cache read', count(sum('cache_read'))],
    ['Cache write', count(sum('cache_write'))],
  ];
  return html`<dl class="counts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

const HEIGHT = 160;

/** A bar for each day. @param {{rows: UsageRow[], days: number, value: (row: UsageRow) => number, shown: (amount: number) => string}} props */
function Days({ rows, days, value, shown }) {
  const amounts = new Map(rows.map((row) => [row.by.day, value(row)]));
  const dates = Array.from({ length: days }, (_, at) => new Date(Date.now() - (days - 1 - at) * 86_400_000).toISOString().slice(0, 10));
  const most = Math.max(...dates.map((date) => amounts.get(date) ?? 0), 1e-9);
  const width = 100 / days;
  const bars = dates.map((date, at) => {
    const amount = amounts.get(date) ?? 0;
    const tall = Math.max(amount ? 2 : 0.5, (amount / most) * (HEIGHT - 20));
    return h('rect', { key: date, class: amount ? 'bar' : 'bar none', x: `${at * width + width * 0.12}%`, y: HEIGHT - tall, width: `${width * 0.76}%`, height: tall, rx: 2 }, h('title', {}, `${date}: ${shown(amount)}`));
  });
  // Of small amounts both lines would have the same label.
  const measure = (/** @type {number} */ amount) => (most < 0.1 && shown(amount).includes('$') ? `$${amount.toFixed(3)}` : shown(amount));
  const levels = most < 1e-6 ? [] : [most, most / 2].map((amount) => ({ amount, y: HEIGHT - (amount / most) * (HEIGHT - 20) }));
  const lines = levels.map(({ y }) => h('line', { class: 'level', x1: '0', x2: '100%', y1: y, y2: y }));
  return html`<figure class="days"><figcaption class="sr">By day: ${dates.filter((date) => amounts.get(date)).map((date) => `${date} ${shown(amounts.get(date) ?? 0)}`).join(', ')}</figcaption>
    <div class="chart">${h('svg', { width: '100%', height: HEIGHT, 'aria-hidden': 'true' }, [...lines, ...bars])}
      ${levels.map(({ amount, y }) => html`<span class="level" style=${{ top: `${y}px` }} aria-hidden="true">${measure(amount)}</span>`)}</div>
    <div class="axis"><span>${shortDate(dates[0])}</span><span>${shortDate(dates[Math.floor(days / 2)])}</span><span>today</span></div></figure>`;
}

/** @param {string} date */
const shortDate = (date) => new Date(date).toLocaleDateString([], { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** @param {{title: string, rows: UsageRow[], name: (row: UsageRow) => any, value: (row: UsageRow) => number, shown: (amount: number) => string}} props */
function Ranking({ title, rows, name, value, shown }) {
  const ordered = rows.toSorted((one, other) => value(other) - value(one)).slice(0, 12);
  const most = value(ordered[0] ?? { cost_usd: '0', tokens: {}, by: {} }) || 1;
  return html`<section class="ranking"><h2>${title}</h2>
    ${ordered.length ? html`<ul>${ordered.map((row) => html`<li><span class="what">${name(row)}</span><span class="number">${shown(value(row))}</span><i style=${{ width: `${(100 * value(row)) / most}%` }} /></li>`)}</ul>` : html`<p class="dim">Nothing yet.</p>`}
  </section>`;
}
