/**
 * Code with its words told apart: comments, strings, numbers and keywords, line by line. Not a parser: what it does not
 * know looks like plain text, and nothing is ever left out.
 */

/** @typedef {{text: string, kind: string}} Piece */

const WORDS = {
  python: 'and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield None True False self',
  script: 'abstract as async await break case catch class const continue default delete do else enum export extends false finally for from function if implements import in instanceof interface let new null of private protected public readonly return static super switch this throw true try type typeof undefined var void while yield',
  systems: 'as async auto await bool break case char class const continue default defer do double else enum extern false fn for func go goto if impl import in int interface let long loop match mod mut namespace new nil null package private protected pub public range return select self short signed sizeof static string struct super switch this throw trait true try type typedef union unsafe unsigned use using var virtual void while where yield',
  shell: 'case do done elif else esac exit export fi for function if in local return set then unset while',
  sql: 'add all alter and as asc begin by case check column commit constraint create default delete desc distinct drop else end exists foreign from group having in index inner insert into is join key left like limit not null on or order outer primary references right rollback select set table then union unique update values view when where with',
  data: 'true false null yes no on off',
};

const HASH = '#[^\\n]*';
const SLASHES = '\\/\\/[^\\n]*|\\/\\*(?:[^*]|\\*(?!\\/))*(?:\\*\\/)?';
const DASHES = '--[^\\n]*';
const FAMILIES = { python: family(WORDS.python, HASH), script: family(WORDS.script, SLASHES), systems: family(WORDS.systems, SLASHES), shell: family(WORDS.shell, HASH), sql: family(WORDS.sql, DASHES, 'i'), data: family(WORDS.data, HASH) };

/** By the ending of a file's name, or by the word behind a fence. @type {Map<string, RegExp>} */
const LANGUAGES = new Map(
  Object.entries({
    python: 'py python pyi python3',
    script: 'js javascript jsx ts typescript tsx mjs cjs vue svelte',
    systems: 'c h cc cpp c++ hpp cs csharp go golang java kt kotlin rs rust scala swift php dart proto zig',
    shell: 'sh bash zsh shell console makefile dockerfile rb ruby',
    sql: 'sql',
    data: 'yaml yml toml ini json jsonc conf cfg',
  }).flatMap(([name, words]) => words.split(' ').map((word) => [word, FAMILIES[/** @type {keyof FAMILIES} */ (name)]])),
);
/** A longer text stays as it is. */
const LONGEST = 20_000;

/** @param {string} words @param {string} comment @param {string} [flags] */
function family(words, comment, flags = '') {
  const string = '"(?:\\\\.|[^"\\\\\\n])*"?|\'(?:\\\\.|[^\'\\\\\\n])*\'?|`(?:\\\\.|[^`\\\\])*`?';
  return new RegExp(`(${comment})|(${string})|(\\b(?:${words.replaceAll(' ', '|')})\\b)|(\\b\\d[\\w.]*)|([\\w$@]+|[^\\w$@"'\`#/-]+|.)`, `gs${flags}`);
}

const KINDS = ['comment', 'string', 'keyword', 'number'];

/** What language a file is in; '' if it is not known. @param {string} path */
export function languageOf(path) {
  const name = path.split('/').at(-1)?.toLowerCase() ?? '';
  return name.includes('.') ? (name.split('.').at(-1) ?? '') : name;
}

/** @param {string} text @param {string} language @returns {Piece[]} */
export function pieces(text, language) {
  const known = LANGUAGES.get(language.toLowerCase());
  if (!known || text.length > LONGEST) return [{ text, kind: '' }];
  /** @type {Piece[]} */
  const found = [];
  for (const one of text.matchAll(known)) {
    const kind = KINDS[one.slice(1, 5).findIndex((group) => group !== undefined)] ?? '';
    const last = found.at(-1);
    if (last && last.kind === kind) last.text += one[0];
    else found.push({ text: one[0], kind });
  }
  return found;
}
