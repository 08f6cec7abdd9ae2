import type { Metrics } from '#src/ports/telemetry.ts';

const MS_PER_SECOND = 1_000;

/** Wraps the store so that the duration of each verb is measured under its name. */
export function observedStore<S extends object>(store: S, metrics: Metrics): S {
  const verbs = new Map<string | symbol, unknown>();
  return new Proxy(store, {
    get(target, name) {
      const known = verbs.get(name);
      if (known !== undefined) return known;
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const verb = (...args: readonly unknown[]) => {
        const start = performance.now();
        const answer: unknown = Reflect.apply(member, target, args);
        if (answer instanceof Promise) observe(answer, String(name), start, metrics);
        return answer;
      };
      verbs.set(name, verb);
      return verb;
    },
  });
}

/** The caller gets the original promise of the store, so failures are not changed. */
function observe(answer: Promise<unknown>, verb: string, start: number, metrics: Metrics): void {
  const done = (outcome: 'ok' | 'error') => () =>
    metrics.storeVerb(verb, outcome, (performance.now() - start) / MS_PER_SECOND);
  answer.then(done('ok'), done('error'));
}
