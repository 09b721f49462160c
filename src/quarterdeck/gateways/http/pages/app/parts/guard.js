/** What cannot be drawn is said so in its place; everything around it goes on. */

import { Component, html } from '../lib.js';
import { visible } from './text.js';

/** @extends {Component<{what: string, raw?: unknown, children?: any}, {problem: string}>} */
export class Guard extends Component {
  /** @param {{what: string, raw?: unknown, children?: any}} props */
  constructor(props) {
    super(props);
    this.state = { problem: '' };
  }

  /** @param {unknown} error */
  componentDidCatch(error) {
    this.setState({ problem: error instanceof Error ? error.message : String(error) });
  }

  render() {
    const { what, raw, children } = this.props;
    if (!this.state.problem) return children;
    return html`<div class="notice error" role="alert"><p>${what} cannot be shown: ${visible(this.state.problem)}</p>
      ${raw === undefined ? null : html`<details><summary>As it is</summary><pre>${visible(JSON.stringify(raw, null, 2))}</pre></details>`}</div>`;
  }
}
