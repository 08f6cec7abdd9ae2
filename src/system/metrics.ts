import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import type { Exposition, Metrics } from '#src/ports/telemetry.ts';

const REQUEST_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const VERB_BUCKETS_S = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1];

export function prometheusMetrics(): Metrics & Exposition {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'sched_http_request_duration_seconds',
    help: 'Time to answer an HTTP request.',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_BUCKETS_S,
    registers: [registry],
  });
  const verbs = new Histogram({
    name: 'sched_store_verb_duration_seconds',
    help: 'Time from calling a store verb to its answer.',
    labelNames: ['verb'],
    buckets: VERB_BUCKETS_S,
    registers: [registry],
  });
  const verbErrors = new Counter({
    name: 'sched_store_verb_errors_total',
    help: 'Store verbs that failed.',
    labelNames: ['verb'],
    registers: [registry],
  });
  const requestsOf = remembered((method: string, route: string, status: number) =>
    requests.labels({ method, route, status }),
  );
  const verbsOf = remembered((verb: string) => verbs.labels({ verb }));
  return {
    contentType: registry.contentType,
    exposition: () => registry.metrics(),
    requestServed: (method, route, status, seconds) => requestsOf(method, route, status).observe(seconds),
    storeVerb: (verb, outcome, seconds) => {
      verbsOf(verb).observe(seconds);
      if (outcome === 'error') verbErrors.inc({ verb });
    },
  };
}

/** Finding the series of a set of labels costs more than counting in it. Routes, statuses and verbs are few. */
function remembered<Labels extends readonly (string | number)[], Series>(
  find: (...labels: Labels) => Series,
): (...labels: Labels) => Series {
  const known = new Map<string, Series>();
  return (...labels) => {
    const key = labels.join(' ');
    const series = known.get(key) ?? find(...labels);
    known.set(key, series);
    return series;
  };
}
