export default class MarkdownIt {
  constructor(options: { html: boolean; linkify: boolean; breaks: boolean });
  render(text: string): string;
  linkify: { set(options: Record<string, boolean>): void };
  renderer: { rules: Record<string, any> };
  utils: { escapeHtml(text: string): string };
}
