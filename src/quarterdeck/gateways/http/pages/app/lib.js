/** What the page is made of: Preact for elements, htm to write them, signals for what changes. */

import htm from './vendor/htm.js';
import { Component, Fragment, createRef, h, render } from './vendor/preact.js';
import { batch, computed, effect, signal, untracked } from './vendor/signals.js';

export { Component, Fragment, batch, computed, createRef, effect, h, render, signal, untracked };
export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from './vendor/hooks.js';

/** Elements as a template: html`<b class=${name}>${text}</b>`. Text is text, never markup. */
export const html = htm.bind(h);
