/** Formats one object of the API as a list of fields. */
import type { Delivery, Endpoint, Notify, RetryPolicy, Schedule } from '#sdk/index.ts';
import { type Cell, fields } from '#src/cli/terminal/output.ts';
import type { Screen } from '#src/cli/terminal/screen.ts';
import { instantText, lastText, metadataText, relativeText, statusCell, timingText } from './columns.ts';

type Pair = readonly [name: string, value: Cell];

export function scheduleText(schedule: Schedule, screen: Screen, now: number): string {
  const { id, mode, state, method, endpoint, endpoint_id, next_fire_at, retry_policy } = schedule;
  return fields(
    [
      ['Schedule', id],
      ...optionalPair('Name', schedule.name),
      ['Mode', mode],
      ['State', statusCell(state)],
      ['Timing', timingText(schedule)],
      ...optionalPair('Fires at', instantWithDistance(schedule.fire_at, now)),
      ['Next', next_fire_at === null ? '-' : instantWithDistance(next_fire_at, now)],
      ['Endpoint', `${method} ${endpoint}`],
      ...optionalPair('Endpoint profile', endpoint_id),
      ...optionalPair('Headers', schedule.header_keys.join(', ')),
      ...optionalPair('TTL', schedule.ttl),
      ...optionalPair('Jitter', schedule.jitter),
      ...optionalPair('Idempotency key', schedule.idempotency_key),
      ['Retries', retryText(retry_policy)],
      ...optionalPair('Rate limit', rateText(schedule.rate_limit)),
      ...optionalPair('Notifies', notifyText(schedule.notify)),
      ...optionalPair('Metadata', metadataText(schedule.metadata)),
      ['Created', instantWithDistance(schedule.created_at, now)],
    ],
    screen,
  );
}

export function deliveryText(delivery: Delivery, screen: Screen, now: number): string {
  return fields(
    [
      ['Delivery', delivery.id],
      ['Mode', delivery.mode],
      ['Status', statusCell(delivery.status)],
      ...optionalPair('Destination', destinationText(delivery)),
      ['Schedule', delivery.schedule_id ?? '-'],
      ...optionalPair('Occurrence', occurrenceText(delivery)),
      ['Scheduled for', instantWithDistance(delivery.scheduled_for, now)],
      ...optionalPair('Next attempt', instantWithDistance(delivery.next_fire_at, now)),
      ...optionalPair('Deadline', instantWithDistance(delivery.deadline, now)),
      ['Attempts', String(delivery.attempt_count)],
      ['Last response', lastText(delivery)],
      ['Idempotency key', delivery.idempotency_key],
      ...optionalPair('Replay of', delivery.replay_of),
      ...optionalPair('Notification of', delivery.notification_of),
      ...optionalPair('Notifies', notifyText(delivery.notify)),
      ...optionalPair('Endpoint profile', endpointProfileText(delivery)),
      ['Created', instantWithDistance(delivery.created_at, now)],
      ...optionalPair('Ended', instantWithDistance(delivery.finalized_at, now)),
    ],
    screen,
  );
}

export function endpointText(endpoint: Endpoint, screen: Screen, now: number): string {
  const { breaker_policy: breaker, retry_budget: budget } = endpoint;
  return fields(
    [
      ['Endpoint profile', endpoint.id],
      ...optionalPair('Name', endpoint.name),
      ['Mode', endpoint.mode],
      ['Destination', `${endpoint.method} ${endpoint.url}`],
      ['Version', String(endpoint.version)],
      ['Archived', endpoint.archived ? 'yes' : 'no'],
      ...optionalPair('Headers', endpoint.header_keys.join(', ')),
      ...optionalPair('Timeout', endpoint.timeout),
      ...optionalPair('Keeps of answers', excerptText(endpoint.response_excerpt)),
      ...optionalPair('Standard Webhooks', endpoint.standard_webhooks ? 'yes' : null),
      ['Retries', retryText(endpoint.retry_policy)],
      ...optionalPair('Retry budget', budget && `${budget.rate} per second, burst ${budget.burst}`),
      ...optionalPair('Rate limit', rateText(endpoint.rate_limit)),
      ...optionalPair(
        'Breaker',
        breaker &&
          `opens after ${breaker.threshold} failures, for ${breaker.base_open} to ${breaker.max_open}; probe timeout ${breaker.probe_timeout}`,
      ),
      ...optionalPair('Notifies', notifyText(endpoint.notify)),
      ...optionalPair('Metadata', metadataText(endpoint.metadata)),
      ['Created', instantWithDistance(endpoint.created_at, now)],
      ['Updated', instantWithDistance(endpoint.updated_at, now)],
    ],
    screen,
  );
}

/** A field without a value has no line. */
function optionalPair(name: string, value: string | null | undefined): readonly Pair[] {
  return value === null || value === undefined || value === '' ? [] : [[name, value]];
}

function instantWithDistance(text: string | null, now: number): string {
  return text === null ? '' : `${instantText(text)} (${relativeText(text, now)})`;
}

function retryText({ max_attempts, base, factor, max }: RetryPolicy): string {
  return `${max_attempts} attempts; base ${base}, factor ${factor}, max ${max}`;
}

function rateText(limit: { readonly per_second: number } | null): string | null {
  return limit && `${limit.per_second} per second`;
}

function endpointProfileText({ endpoint_id, endpoint_version }: Delivery): string | null {
  return endpoint_id === null ? null : `${endpoint_id}, version ${endpoint_version}`;
}

/** A service of an earlier version does not say where a delivery goes. */
function destinationText({ method, url }: Partial<Delivery>): string | null {
  return url === undefined ? null : `${method} ${url}`;
}

/** The nominal instant is shown where it differs from the instant at which the delivery was due. */
function occurrenceText({ triggered, occurrence, scheduled_for }: Delivery): string | null {
  if (triggered) return 'none: it was triggered';
  return occurrence === scheduled_for ? null : occurrence && instantText(occurrence);
}

/** A service of an earlier version does not say it. */
function notifyText(notify: Notify | null | undefined): string | null {
  if (notify === null || notify === undefined) return null;
  return notify.on.length === 0 ? 'nobody' : `${notify.endpoint_id} of ${notify.on.join(', ')}`;
}

function excerptText(bytes: number | null | undefined): string | null {
  return bytes === null || bytes === undefined ? null : `${bytes} bytes`;
}
