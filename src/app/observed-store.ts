import type { Metrics } from '#src/ports/telemetry.ts';

const MS_PER_SECOND = 1_000;

/** The same store; each verb is timed from the call to its answer, under its own name. */
export function observedStore<S extends object>(store: S, metrics: Metrics): S {
  const verbs = new Map<string | symbol, unknown>();
  return new Proxy(store, {
    get(target, name) {
      const known = verbs.get(name);
      if (known !== undefined) return known;
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const verb = (...given: readonly unknown[]) => {
        const start = performance.now();
        const answer: unknown = Reflect.apply(member, target, given);
        if (answer instanceof Promise) observe(answer, String(name), start, metrics);
        return answer;
      };
      verbs.set(name, verb);
      return verb;
    },
  });
}

/** Watches from aside: the caller has the very promise of the store, failures included. */
function observe(answer: Promise<unknown>, verb: string, start: number, metrics: Metrics): void {
  const done = (outcome: 'ok' | 'error') => () =>
    metrics.storeVerb(verb, outcome, (performance.now() - start) / MS_PER_SECOND);
  answer.then(done('ok'), done('error'));
}
