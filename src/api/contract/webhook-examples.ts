/** Examples of the bodies that Sched itself composes. They continue the story of the other examples. */
import { attempt, delivery, type Example, FIRED_AT, HOOK } from './examples.ts';
import { exampleId } from './forms.ts';
import type { AlertBody, NotificationBody } from './notifications.ts';
import type { AttemptResource } from './resources.ts';

const failedAttempt: AttemptResource = {
  ...attempt,
  outcome: 'retryable',
  status_code: 503,
  error: 'HTTP 503',
};
const lastAttempt: AttemptResource = {
  ...failedAttempt,
  id: 'att_01m7hnxsv6zqgw5m2r7n9x0abc',
  attempt_no: 2,
  due_at: '2026-11-16T08:00:10.086Z',
  fired_at: '2026-11-16T08:00:10.088Z',
  finished_at: '2026-11-16T08:00:10.170Z',
  egress_ms: 82,
};
const notify = { endpoint_id: exampleId('ep'), on: ['succeeded', 'dead_letter', 'expired'] } as const;

/** The delivery of the other examples, after two attempts without success. */
const deadLetter: NotificationBody = {
  type: 'delivery.dead_letter',
  id: 'dlv_01m7hnxsxtzqgw5m2r7n9x0abc',
  created_at: '2026-11-16T08:00:10.170Z',
  data: {
    delivery: {
      ...delivery,
      status: 'dead_letter',
      attempt_count: 2,
      last_status_code: 503,
      error: 'HTTP 503',
      notify,
      finalized_at: '2026-11-16T08:00:10.170Z',
    },
    schedule: { id: exampleId('sch'), name: 'daily-report', metadata: { team: 'billing' } },
    attempts: [failedAttempt, lastAttempt],
    response: { status_code: 503, excerpt: 'upstream timed out', encoding: 'utf-8', truncated: false },
  },
};
const succeeded: NotificationBody = {
  ...deadLetter,
  type: 'delivery.succeeded',
  data: { ...deadLetter.data, delivery: { ...delivery, notify }, attempts: [attempt], response: null },
};
const alert: AlertBody = {
  type: 'alert.opened',
  id: exampleId('dlv'),
  created_at: '2026-11-16T08:00:01.000Z',
  data: {
    title: 'Breaker open: https://example.com/…',
    text: 'The circuit breaker of https://example.com/… opened, because its attempts kept failing. Its deliveries wait until a probe succeeds. Check the receiver, then close the breaker in the dashboard or wait for the next probe.',
    url: 'https://sched.example.com/dashboard/p/billing/live/alerts/inc_01m7hnxsxtzqgw5m2r7n9x0abc',
    project: 'billing',
    mode: 'live',
    incident: {
      id: 'inc_01m7hnxsxtzqgw5m2r7n9x0abc',
      condition_id: 'alc_01m7f3gs00zqgw5m2r7n9x0abc',
      kind: 'breaker_opened',
      endpoint: HOOK,
      opened_at: FIRED_AT,
      closed_at: null,
    },
  },
};
const alertTest: AlertBody = {
  ...alert,
  type: 'alert.test',
  data: {
    ...alert.data,
    title: 'Test of an alert channel',
    text: 'Alerts of the project billing (live) can reach this channel. Nothing is wrong.',
    url: 'https://sched.example.com/dashboard/p/billing/live/alerts',
    incident: null,
  },
};

/** The bodies of webhooks that Sched composes. */
export const WEBHOOK_EXAMPLES = {
  notification: {
    default: { summary: 'A delivery ended as a dead letter', value: deadLetter },
    succeeded: { summary: 'A delivery succeeded', value: succeeded },
  },
  alert: {
    default: { summary: 'An incident began', value: alert },
    test: { summary: 'A test of the channel', value: alertTest },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Example>>>>;
