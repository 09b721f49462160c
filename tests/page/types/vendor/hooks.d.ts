type Inputs = readonly unknown[];
export function useState<T>(initial: T | (() => T)): [T, (next: T | ((known: T) => T)) => void];
export function useRef<T>(initial: T): { current: T };
export function useEffect(effect: () => void | (() => void), inputs?: Inputs): void;
export function useLayoutEffect(effect: () => void | (() => void), inputs?: Inputs): void;
export function useMemo<T>(make: () => T, inputs: Inputs): T;
export function useCallback<T extends Function>(callback: T, inputs: Inputs): T;
