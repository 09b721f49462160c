export type ComponentChild = any;
export interface RefObject<T> { current: T | null }
export class Component<P = {}, S = {}> {
  constructor(props: P);
  props: P;
  state: S;
  setState(changes: Partial<S>, done?: () => void): void;
  forceUpdate(done?: () => void): void;
  render(): ComponentChild;
}
export const Fragment: any;
export function h(type: any, props: Record<string, any> | null, ...children: any[]): any;
export function render(what: any, where: Element): void;
export function createRef<T = any>(): RefObject<T>;
