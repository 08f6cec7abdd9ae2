import type { Store } from '#src/ports/store.ts';

/**
 * The same store, with somebody else coming between: before each of the first `times` calls of `verb`
 * goes through, `meanwhile` has happened.
 */
export function interleaved(
  store: Store,
  verb: keyof Store,
  meanwhile: (time: number) => Promise<unknown>,
  times = 1,
): Store {
  let calls = 0;
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return async (...parameters: readonly unknown[]): Promise<unknown> => {
        if (name === verb && calls < times) {
          calls += 1;
          await meanwhile(calls);
        }
        return Reflect.apply(value, target, parameters);
      };
    },
  });
}
