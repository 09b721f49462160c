/** The model asks: choices, several of them, or an answer of one's own. */

import { html, useState } from '../lib.js';
import { marked } from '../parts/text.js';
import { decide } from './deciding.js';

/**
 * @typedef {import('../store/types.js').Approval} Approval
 * @typedef {import('../store/types.js').Question} Question
 */

/** @param {{approval: Approval}} props */
export function QuestionsDecision({ approval }) {
  const questions = approval.questions ?? [];
  // By number: the words of a question are the model's, and may be the name of anything.
  const [answers, setAnswers] = useState(/** @type {string[][]} */ (questions.map(() => [])));
  const [own, setOwn] = useState(/** @type {string[]} */ (questions.map(() => '')));
  const answerTo = (/** @type {Question} */ question, /** @type {number} */ number) => {
    const chosen = [...answers[number], ...(own[number].trim() ? [own[number].trim()] : [])];
    return question.several ? chosen : chosen.at(-1);
  };
  const complete = questions.every((question, number) => answerTo(question, number)?.length);
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    const given = Object.fromEntries(questions.map((question, number) => [question.text, answerTo(question, number)]));
    void decide(approval, { decision: 'allow', answers: given }, 'Answered.');
  };
  return html`<form class="questions" onSubmit=${submit}>
    ${questions.map(
      (question, number) => html`<fieldset>
        <legend>${question.header ? html`<span class="tag">${marked(question.header)}</span> ` : null}${marked(question.text)}</legend>
        ${(question.choices ?? []).map((choice) => html`<${Choice} question=${question} number=${number} choice=${choice} chosen=${answers[number]}
          choose=${(/** @type {string[]} */ labels) => {
            setAnswers(answers.with(number, labels));
            if (!question.several) setOwn(own.with(number, ''));
          }} />`)}
        <label class="own">Something else <input value=${own[number]} onInput=${(/** @type {any} */ event) => {
          setOwn(own.with(number, event.target.value));
          if (!question.several) setAnswers(answers.with(number, []));
        }} /></label>
      </fieldset>`,
    )}
    <div class="decision"><div class="buttons">
      <button class="primary" disabled=${!complete}>Answer</button>
      <button type="button" onClick=${() => decide(approval, { decision: 'deny' }, 'Skipped.')}>Skip</button>
    </div></div>
  </form>`;
}

/** @param {{question: Question, number: number, choice: {label: string, description?: string, preview?: string}, chosen: string[], choose: (labels: string[]) => void}} props */
function Choice({ question, number, choice, chosen, choose }) {
  const checked = chosen.includes(choice.label);
  const changed = () => {
    if (!question.several) choose([choice.label]);
    else choose(checked ? chosen.filter((one) => one !== choice.label) : [...chosen, choice.label]);
  };
  return html`<label class="choice">
    <input type=${question.several ? 'checkbox' : 'radio'} name=${`question-${number}`} checked=${checked} onChange=${changed} />
    <span><b>${marked(choice.label)}</b>${choice.description ? html`<small>${marked(choice.description)}</small>` : null}
    ${choice.preview ? html`<pre>${marked(choice.preview)}</pre>` : null}</span>
  </label>`;
}
