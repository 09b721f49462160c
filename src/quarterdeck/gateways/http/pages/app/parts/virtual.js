/**
 * A long list of which only what is near the window is in the document. Heights are measured as rows come in sight and
 * guessed until then; the browser's own scroll anchoring keeps the reader's place when a guess was wrong.
 */

import { Component, createRef, html } from '../lib.js';

const GUESS_PX = 64;
const BEYOND_PX = 900;
const AT_END_PX = 48;

/**
 * @typedef {{items: {id: string}[], row: (item: any, index: number) => any, label: string, head?: any, foot?: any, busy?: boolean,
 *   handle?: {current: VirtualList | null}}} Props `handle`: where to put what others call.
 */

/** @extends {Component<Props, {top: number, height: number}>} */
export class VirtualList extends Component {
  /** @param {Props} props */
  constructor(props) {
    super(props);
    this.state = { top: 0, height: 800 };
    this.place = createRef();
    /** @type {Map<string, number>} */
    this.heights = new Map();
    this.following = true;
    /** Where the end was when we last went there. */
    this.end = 0;
    this.frame = 0;
    this.shown = '';
    this.observer = new ResizeObserver((entries) => this.measured(entries));
  }

  componentDidMount() {
    if (this.props.handle) this.props.handle.current = this;
    const { element } = this;
    if (!element) return;
    this.setState({ height: element.clientHeight });
    this.watching = new ResizeObserver(() => {
      this.setState({ height: element.clientHeight });
      this.toEndIfFollowing();
    });
    this.watching.observe(element);
    this.toEndIfFollowing();
  }

  componentWillUnmount() {
    if (this.props.handle?.current === this) this.props.handle.current = null;
    this.observer.disconnect();
    this.watching?.disconnect();
    cancelAnimationFrame(this.frame);
  }

  /** Null once the list is gone, which events and observations that were on their way may outlive. @returns {HTMLElement | null} */
  get element() {
    return this.place.current;
  }

  /** Cheap where sizes are known: when they were just measured, not right after something was drawn. */
  toEndIfFollowing() {
    const { element } = this;
    if (!element || !this.following) return;
    element.scrollTop = element.scrollHeight;
    this.end = element.scrollTop;
  }

  toEnd() {
    this.following = true;
    this.toEndIfFollowing();
    this.forceUpdate();
  }

  /** Bring an item into sight, by its place in the list; or what is inside it, which may be folded away. @param {number} index @param {string} [inside] */
  show(index, inside) {
    this.following = false;
    const top = this.offset(index);
    if (this.element) this.element.scrollTop = top;
    this.setState({ top }, () => {
      const id = this.props.items[index]?.id;
      const row = id === undefined ? null : this.element?.querySelector(`[data-row="${CSS.escape(id)}"]`);
      const place = row?.querySelector(`[data-inside="${CSS.escape(inside ?? '')}"]`) ?? row;
      for (let folded = place?.parentElement?.closest('details'); folded && row?.contains(folded); folded = folded.parentElement?.closest('details')) folded.open = true;
      place?.scrollIntoView({ block: 'start' });
      /** @type {HTMLElement | null} */ (place)?.focus();
    });
  }

  /** @param {number} index */
  offset(index) {
    let top = 0;
    for (let at = 0; at < index; at += 1) top += this.heights.get(this.props.items[at].id) ?? GUESS_PX;
    return top;
  }

  scrolled = () => {
    const { element } = this;
    if (!element) return;
    const end = element.scrollHeight - element.clientHeight - element.scrollTop;
    // What grew since is not followed yet; only who moves up stops following.
    const following = end < AT_END_PX || (this.following && element.scrollTop >= this.end);
    const changed = following !== this.following;
    this.following = following;
    if (changed || Math.abs(element.scrollTop - this.state.top) > BEYOND_PX / 3) this.setState({ top: element.scrollTop });
  };

  /** Rows, or what stands below them, have another size: the end moves, and perhaps other rows are near. @param {ResizeObserverEntry[]} entries */
  measured(entries) {
    for (const { target, borderBoxSize } of entries) {
      const id = /** @type {HTMLElement} */ (target).dataset.row;
      const height = borderBoxSize[0]?.blockSize ?? 0;
      if (id !== undefined && height > 0) this.heights.set(id, height);
    }
    this.toEndIfFollowing();
    if (Object.values(this.window()).join() === this.shown) return;
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.forceUpdate());
  }

  /** The rows near the window, and how much is above and below them. */
  window() {
    const { items } = this.props;
    const top = this.following ? Number.POSITIVE_INFINITY : this.state.top - BEYOND_PX;
    const heights = items.map((item) => this.heights.get(item.id) ?? GUESS_PX);
    const whole = heights.reduce((sum, one) => sum + one, 0);
    const from = Math.min(top, whole - this.state.height - BEYOND_PX);
    let [first, above] = [0, 0];
    while (first < items.length && above + heights[first] < from) above += heights[first++];
    let [last, shown] = [first, 0];
    while (last < items.length && (shown < this.state.height + 2 * BEYOND_PX || this.following)) shown += heights[last++];
    return { first, last, above, below: Math.max(0, whole - above - shown) };
  }

  /** @param {HTMLElement | null} element */
  observe = (element) => {
    if (element) this.observer.observe(element);
  };

  render() {
    const { items, row, label, head, foot, busy } = this.props;
    const near = this.window();
    const { first, last, above, below } = near;
    this.shown = Object.values(near).join();
    return html`<div class="virtual">
      <div class="scroller" ref=${this.place} onScroll=${this.scrolled} tabindex="0" role="log" aria-label=${label} aria-busy=${busy ? 'true' : 'false'} aria-live="off">
        ${head}
        <div style=${{ height: `${above}px` }} aria-hidden="true" />
        ${items.slice(first, last).map((item, index) => html`<div class="row" key=${item.id} data-row=${item.id} tabindex="-1" ref=${this.observe}>${row(item, first + index)}</div>`)}
        <div style=${{ height: `${below}px` }} aria-hidden="true" />
        <div ref=${this.observe}>${foot}</div>
      </div>
      ${!this.following && html`<button class="to-end" onClick=${() => this.toEnd()} title="Jump to the end (End)">↓ Newest</button>`}
    </div>`;
  }
}
