import type { Store } from '#src/ports/store.ts';

/** A store that runs `meanwhile` before each of the first `times` calls of `verb`. */
export function interleaved<S extends Store>(
  store: S,
  verb: keyof Store,
  meanwhile: (time: number) => Promise<unknown>,
  times = 1,
): S {
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
