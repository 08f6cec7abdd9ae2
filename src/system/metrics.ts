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
  return {
    contentType: registry.contentType,
    exposition: () => registry.metrics(),
    requestServed: (method, route, status, seconds) => requests.observe({ method, route, status }, seconds),
    storeVerb: (verb, outcome, seconds) => {
      verbs.observe({ verb }, seconds);
      if (outcome === 'error') verbErrors.inc({ verb });
    },
  };
}
