/** Places in all sessions' text where the words are; each leads there. */

import { deck } from '../deck.js';
import { html, useEffect, useRef, useState } from '../lib.js';
import { baseName, marked, visible } from '../parts/text.js';
import { attempt } from '../parts/toasts.js';
import { link } from '../router.js';

/** @typedef {{session_id: string, name?: string, cwd?: string, seq?: number, kind: string, excerpt: string}} Hit */
/** @typedef {{hits: Hit[], cursor: string | null, behind: number, asked: string, problem: string}} Found */

const PAGE = 20;
const PAUSE_MS = 200;
/** How soon it is asked again while the index does not have everything. */
const BEHIND_MS = 1_000;
/** @type {Record<string, string>} */
const KINDS = { session: 'name', prompt: 'prompt', text: 'answer', tool: 'tool', event: 'event' };
/** @type {Found} */
const NOTHING = { hits: [], cursor: null, behind: 0, asked: '', problem: '' };

/** What the host finds for these words, a moment after they are typed. @param {string} words */
export function useHits(words) {
  const wanted = words.trim();
  const [found, setFound] = useState(NOTHING);
  useEffect(() => {
    if (wanted.length < 2) {
      setFound(NOTHING);
      return undefined;
    }
    let asked = true;
    const ask = async () => {
      try {
        const { hits, next_cursor: cursor = null, behind = 0 } = await deck().call('search', { q: wanted, limit: PAGE });
        if (!asked) return;
        setFound({ hits, cursor, behind, asked: wanted, problem: '' });
        if (behind) timer = setTimeout(ask, BEHIND_MS);
      } catch (error) {
        if (asked) setFound({ ...NOTHING, asked: wanted, problem: /** @type {Error} */ (error).message });
      }
    };
    let timer = setTimeout(ask, PAUSE_MS);
    return () => {
      asked = false;
      clearTimeout(timer);
    };
  }, [wanted]);
  const more = async () => {
    const page = await attempt(deck().call('search', { q: found.asked, limit: PAGE, cursor: found.cursor }));
    if (page) setFound({ ...found, hits: [...found.hits, ...page.hits], cursor: page.next_cursor ?? null });
  };
  return { found: wanted.length < 2 ? NOTHING : found, more };
}

/** @param {Hit} hit */
export const linkOf = (hit) => link('session', hit.session_id, hit.seq ? { at: String(hit.seq) } : {});

/** @param {{found: Found, more: () => void, selected: Hit | undefined}} props */
export function Hits({ found, more, selected }) {
  if (!found.asked) return null;
  return html`<section class="hits" aria-label="Found in the text">
    <h2>In the text</h2>
    <p class="sr" role="status" aria-live="polite">${found.hits.length ? `${found.hits.length}${found.cursor ? ' or more' : ''} places` : 'Not in any text'}</p>
    ${found.hits.length ? html`<ul class="rows">${found.hits.map((hit) => html`<${Row} key=${`${hit.session_id} ${hit.seq ?? 0} ${hit.kind}`} hit=${hit} selected=${hit === selected} />`)}</ul>` : html`<p class="dim none">${marked(found.problem || 'Not in any text.')}</p>`}
    ${found.cursor ? html`<p class="earlier"><button onClick=${more}>More places</button></p>` : null}
    ${found.behind ? html`<p class="dim none">${found.behind} rows are not indexed yet.</p>` : null}
  </section>`;
}

/** @param {{hit: Hit, selected: boolean}} props */
function Row({ hit, selected }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (selected) place.current?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  const name = hit.name || baseName(hit.cwd) || hit.session_id.slice(0, 8);
  return html`<li ref=${place}><a class="item" href=${linkOf(hit)} aria-current=${selected ? 'true' : undefined}>
    <span class="first"><b title=${visible(hit.cwd)}>${marked(name)}</b><span class="tag">${Object.hasOwn(KINDS, hit.kind) ? KINDS[hit.kind] : visible(hit.kind)}</span></span>
    <span class="excerpt">${parts(hit.excerpt)}</span>
  </a></li>`;
}

/** The words that were looked for are between U+0002 and U+0003. @param {string} excerpt */
function parts(excerpt) {
  return excerpt.split('\u0002').map((part, index) => {
    const [word, rest] = index ? part.split('\u0003', 2) : [null, part];
    return html`${word === null ? null : html`<mark>${marked(word)}</mark>`}${marked(rest ?? '')}`;
  });
}
