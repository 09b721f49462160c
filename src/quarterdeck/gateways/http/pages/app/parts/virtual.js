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
    this.frame = 0;
    this.observer = new ResizeObserver((entries) => this.measured(entries));
  }

  componentDidMount() {
    if (this.props.handle) this.props.handle.current = this;
    const { element } = this;
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

  componentDidUpdate() {
    this.toEndIfFollowing();
  }

  /** @returns {HTMLElement} */
  get element() {
    return /** @type {any} */ (this.place.current);
  }

  toEndIfFollowing() {
    if (this.following) this.element.scrollTop = this.element.scrollHeight;
  }

  toEnd() {
    this.following = true;
    this.toEndIfFollowing();
    this.forceUpdate();
  }

  /** Bring an item into sight, by its place in the list. @param {number} index */
  show(index) {
    this.following = false;
    const top = this.offset(index);
    this.element.scrollTop = top;
    this.setState({ top }, () => {
      const id = this.props.items[index]?.id;
      const row = id === undefined ? null : this.element.querySelector(`[data-row="${CSS.escape(id)}"]`);
      row?.scrollIntoView({ block: 'start' });
      /** @type {HTMLElement | null} */ (row)?.focus();
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
    const end = element.scrollHeight - element.clientHeight - element.scrollTop;
    const following = end < AT_END_PX;
    const changed = following !== this.following;
    this.following = following;
    if (changed || Math.abs(element.scrollTop - this.state.top) > BEYOND_PX / 3) this.setState({ top: element.scrollTop });
  };

  /** @param {ResizeObserverEntry[]} entries */
  measured(entries) {
    let changed = false;
    for (const { target, borderBoxSize } of entries) {
      const id = /** @type {HTMLElement} */ (target).dataset.row ?? '';
      const height = borderBoxSize[0]?.blockSize ?? 0;
      if (height > 0 && this.heights.get(id) !== height) {
        this.heights.set(id, height);
        changed = true;
      }
    }
    if (!changed) return;
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
    const { first, last, above, below } = this.window();
    return html`<div class="virtual">
      <div class="scroller" ref=${this.place} onScroll=${this.scrolled} tabindex="0" role="log" aria-label=${label} aria-busy=${busy ? 'true' : 'false'} aria-live="off">
        ${head}
        <div style=${{ height: `${above}px` }} aria-hidden="true" />
        ${items.slice(first, last).map((item, index) => html`<div class="row" key=${item.id} data-row=${item.id} tabindex="-1" ref=${this.observe}>${row(item, first + index)}</div>`)}
        <div style=${{ height: `${below}px` }} aria-hidden="true" />
        ${foot}
      </div>
      ${!this.following && html`<button class="to-end" onClick=${() => this.toEnd()} title="Jump to the end (End)">↓ Newest</button>`}
    </div>`;
  }
}
