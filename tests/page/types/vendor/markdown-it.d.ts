export default class MarkdownIt {
  constructor(options: { html: boolean; linkify: boolean; breaks: boolean; highlight?: (code: string, language: string) => string });
  options: object;
  render(text: string): string;
  parse(text: string, env: object): { level: number; nesting: number }[];
  linkify: { set(options: Record<string, boolean>): void };
  renderer: { rules: Record<string, any>; render(tokens: object[], options: object, env: object): string };
  utils: { escapeHtml(text: string): string };
}
