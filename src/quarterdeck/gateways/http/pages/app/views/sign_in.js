/** The door: the link that `quarterdeck serve` prints opens it; a token does, too. */

import { html, useState } from '../lib.js';
import { api } from '../net/early.js';
import { forget, keep } from '../net/login.js';
import { Icon } from '../parts/icons.js';
import { visible } from '../parts/text.js';

/** @param {{enter: (token: string) => void, refused?: boolean}} props */
export function SignIn({ enter, refused = false }) {
  const [problem, setProblem] = useState(refused ? 'The token is no longer valid.' : '');
  const [busy, setBusy] = useState(false);
  /** @param {SubmitEvent} event */
  const submit = async (event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    const token = String(form.get('token') ?? '').trim();
    if (!token) return;
    setBusy(true);
    try {
      const answer = await fetch(api('host'), { headers: { authorization: `Bearer ${token}` } });
      if (!answer.ok) throw new Error((await answer.json()).detail ?? 'The host does not accept this token.');
      forget();
      keep(token, { everywhere: form.get('stay') === 'on' });
      enter(token);
    } catch (error) {
      setProblem(error instanceof TypeError ? 'The host does not respond.' : /** @type {Error} */ (error).message);
    }
    setBusy(false);
  };
  return html`<main class="sign-in" id="main">
    <form onSubmit=${submit} autocomplete="off">
      <h1><${Icon} name="helm" /> Quarterdeck</h1>
      <p>Open the link that <code>quarterdeck serve</code> prints, or sign in with a token. Programs of this user find one in the file <code>token</code> of the state folder.</p>
      <label>Token <input name="token" type="password" required spellcheck="false" autocomplete="off" autofocus /></label>
      <label class="check"><input type="checkbox" name="stay" /> Stay signed in on this browser</label>
      <p class="problem" role="alert">${visible(problem)}</p>
      <button class="primary" disabled=${busy}>Sign in</button>
    </form>
  </main>`;
}
