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

/** The accuracy promised is 100 to 300 ms. */
const LATENESS_BUCKETS_S = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 5, 30, 300, 3_600];
const ATTEMPT_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

type EveryMetric = Metrics & ProcessMetrics & EngineMetrics & ClusterMetrics & Exposition;

export function prometheusMetrics(): EveryMetric {
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
  const requestsOf = remembered((method: string, route: string, status: number) =>
    requests.labels(method, route, status),
  );
  const verbsOf = remembered((verb: string) => verbs.labels(verb));
  const eventLoop = new Histogram({
    name: 'sched_event_loop_delay_seconds',
    help: 'How late the event loop came back to a timer: what one piece of work held up all others.',
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

/** Its histograms are added to those that are shown. */
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
      help: 'What attempts made of their deliveries; retry_scheduled counts the retries.',
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
    labelNames: ['what'],
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
    unsent: (what) => unsent.inc({ what }),
    watch: (read) => watchEngine(registry, read),
  };
}

/** Shown only once they are watched: a process alone has none of them. */
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
  gauge('sched_slots_held', 'Slots that this node dispatches.', ({ slotsOwned }) => slotsOwned);
  gauge('sched_nodes', 'Living nodes, this one among them, as it last saw them.', ({ nodes }) => nodes);
  gauge(
    'sched_clock_offset_seconds',
    'By how much the reference clock is ahead of the clock of this machine.',
    ({ clockOffsetSeconds }) => clockOffsetSeconds,
  );
  gauge(
    'sched_clock_sure',
    '1 while the reference clock is known; nothing is claimed while it is not.',
    ({ isClockSure }) => Number(isClockSure),
  );
  gauge(
    'sched_lease_valid',
    '1 while the lease of this node is valid; nothing is claimed while it is not.',
    ({ isLeaseValid }) => Number(isLeaseValid),
  );
}

/** Gauges that are read whenever the metrics are asked for. */
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
  gauge('sched_deliveries_due', 'Due deliveries that wait for their turn.', ({ waiting }) => waiting);
  gauge('sched_deliveries_in_flight', 'Deliveries being sent.', ({ inFlight }) => inFlight);
  gauge('sched_breakers_open', 'Circuit breakers that let nothing through.', ({ breakers }) => breakers.open);
  gauge(
    'sched_breakers_half_open',
    'Circuit breakers whose window is over and that wait for the verdict of a probe.',
    ({ breakers }) => breakers.halfOpen,
  );
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
