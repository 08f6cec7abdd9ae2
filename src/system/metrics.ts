import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type {
  ClusterGauges,
  ClusterMetrics,
  EngineGauges,
  EngineMetrics,
  Exposition,
  Metrics,
  ProcessMetrics,
} from '#src/ports/telemetry.ts';
import { Histogram } from './histogram.ts';

const REQUEST_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const VERB_BUCKETS_S = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1];

const EVENT_LOOP_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1];

/** The promised accuracy is 100 to 300 ms. */
const LATENESS_BUCKETS_S = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 5, 30, 300, 3_600];
const ATTEMPT_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

type AllMetrics = Metrics & ProcessMetrics & EngineMetrics & ClusterMetrics & Exposition;

export function prometheusMetrics(): AllMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'sched_http_request_duration_seconds',
    help: 'Time to answer an HTTP request.',
    labelNames: ['method', 'route', 'status'],
    bounds: REQUEST_BUCKETS_S,
  });
  const verbs = new Histogram({
    name: 'sched_store_verb_duration_seconds',
    help: 'Time from calling a store verb to its answer.',
    labelNames: ['verb'],
    bounds: VERB_BUCKETS_S,
  });
  const verbErrors = new Counter({
    name: 'sched_store_verb_errors_total',
    help: 'Store verbs that failed.',
    labelNames: ['verb'],
    registers: [registry],
  });
  const requestsOf = memoized((method: string, route: string, status: number) =>
    requests.labels(method, route, status),
  );
  const verbsOf = memoized((verb: string) => verbs.labels(verb));
  const eventLoop = new Histogram({
    name: 'sched_event_loop_delay_seconds',
    help: 'How late the event loop ran a timer, because one piece of work blocked all others.',
    labelNames: [],
    bounds: EVENT_LOOP_BUCKETS_S,
  });
  const eventLoopDelays = eventLoop.labels();
  const histograms = [requests, verbs, eventLoop];
  return {
    ...engineMetrics(registry, histograms),
    ...clusterMetrics(registry),
    eventLoopDelay: (seconds) => eventLoopDelays.observe(seconds),
    contentType: registry.contentType,
    exposition: async () => [await registry.metrics(), ...histograms.map((one) => one.text())].join('\n'),
    requestServed: (method, route, status, seconds) => requestsOf(method, route, status).observe(seconds),
    storeVerb: (verb, outcome, seconds) => {
      verbsOf(verb).observe(seconds);
      if (outcome === 'error') verbErrors.inc({ verb });
    },
  };
}

/** Adds its histograms to `histograms`. */
function engineMetrics(registry: Registry, histograms: Histogram[]): EngineMetrics {
  const registers = [registry];
  const lateness = new Histogram({
    name: 'sched_delivery_lateness_seconds',
    help: 'Time from the due instant of an attempt to its claim, and to handing its request to the network.',
    labelNames: ['stage'],
    bounds: LATENESS_BUCKETS_S,
  });
  const attempts = new Histogram({
    name: 'sched_attempt_duration_seconds',
    help: 'Time from claiming an attempt to its end, by outcome.',
    labelNames: ['outcome'],
    bounds: ATTEMPT_BUCKETS_S,
  });
  histograms.push(lateness, attempts);
  const settled = new Map<string, number>();
  registry.registerMetric(
    new Counter({
      name: 'sched_deliveries_settled_total',
      help: 'Deliveries by their status after an attempt. retry_scheduled counts the retries.',
      labelNames: ['status'],
      registers: [],
      collect() {
        this.reset();
        for (const [status, count] of settled) this.inc({ status }, count);
      },
    }),
  );
  const unsent = new Counter({
    name: 'sched_deliveries_unsent_total',
    help: 'Due deliveries that were not sent: expired, dead_letter, or deferred by breaker, budget or rate limit.',
    labelNames: ['status'],
    registers,
  });
  const stages = { claim: lateness.labels('claim'), send: lateness.labels('send') };
  const outcomes = {
    success: attempts.labels('success'),
    retryable: attempts.labels('retryable'),
    terminal: attempts.labels('terminal'),
  };
  return {
    lateness: (stage, seconds) => stages[stage].observe(seconds),
    attemptFinished: ({ outcome, status, seconds }) => {
      outcomes[outcome].observe(seconds);
      settled.set(status, (settled.get(status) ?? 0) + 1);
    },
    unsent: (status) => unsent.inc({ status }),
    watch: (read) => watchEngine(registry, read),
  };
}

/** Registered only in a cluster: a single process does not show them. */
function clusterMetrics(registry: Registry): ClusterMetrics {
  const registers: Registry[] = [];
  const renewalsFailed = new Counter({
    name: 'sched_lease_renewals_failed_total',
    help: 'Renewals of the lease of this node that failed.',
    registers,
  });
  const slotsMoved = new Counter({
    name: 'sched_slots_moved_total',
    help: 'Slots that this node gained, gave back, or lost to another node without having given them back.',
    labelNames: ['how'],
    registers,
  });
  for (const how of ['gained', 'released', 'lost']) slotsMoved.inc({ how }, 0);
  return {
    leaseRenewalFailed: () => renewalsFailed.inc(),
    slotsMoved: (how, count) => slotsMoved.inc({ how }, count),
    watchCluster: (read) => {
      registry.registerMetric(renewalsFailed);
      registry.registerMetric(slotsMoved);
      watchCluster(registry, read);
    },
  };
}

function watchCluster(registry: Registry, read: () => ClusterGauges): void {
  const gauge = gauges(registry, read);
  gauge('sched_slots_owned', 'Slots that this node owns and dispatches.', ({ slotsOwned }) => slotsOwned);
  gauge(
    'sched_nodes',
    'Nodes that are alive, including this one, as it last saw them.',
    ({ nodes }) => nodes,
  );
  gauge(
    'sched_clock_offset_seconds',
    'How far the reference clock is ahead of the clock of this machine.',
    ({ clockOffsetSeconds }) => clockOffsetSeconds,
  );
  gauge(
    'sched_clock_synchronized',
    '1 while the reference clock is known. Otherwise nothing is claimed.',
    ({ isClockSynchronized }) => Number(isClockSynchronized),
  );
  gauge(
    'sched_lease_valid',
    '1 while the lease of this node is valid. Otherwise nothing is claimed.',
    ({ isLeaseValid }) => Number(isLeaseValid),
  );
}

/** Creates gauges that are read for each scrape. */
function gauges<Read>(registry: Registry, read: () => Read) {
  return (name: string, help: string, value: (read: Read) => number) =>
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(value(read()));
        },
      }),
    );
}

function watchEngine(registry: Registry, read: () => EngineGauges): void {
  const gauge = gauges(registry, read);
  gauge('sched_deliveries_due', 'Due deliveries in the queue.', ({ waiting }) => waiting);
  gauge('sched_deliveries_in_flight', 'Deliveries being sent.', ({ inFlight }) => inFlight);
  gauge('sched_breakers_open', 'Circuit breakers that are open.', ({ breakers }) => breakers.open);
  gauge(
    'sched_breakers_half_open',
    'Circuit breakers whose window is over. They wait for a probe or for its result.',
    ({ breakers }) => breakers.halfOpen,
  );
}

/** Caches series, because the lookup costs more than counting. Routes, statuses and verbs are few. */
function memoized<Labels extends readonly (string | number)[], Series>(
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
