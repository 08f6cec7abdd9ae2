/**
 * The bodies that Sched itself composes: the notification of how a delivery ended, and the message of an alert. The
 * service does not check what it sends, so only the document and the tests load this file. All others import its types.
 */
import { z } from 'zod';
import { NOTIFIED_ATTEMPTS_MAX } from '#src/domain/notification.ts';
import { NOTIFIED_OUTCOMES } from '#src/domain/notify.ts';
import { MODES } from '#src/domain/project.ts';
import { at, id } from './resource-fields.ts';
import { Attempt, Delivery, Schedule } from './resources.ts';

export const NOTIFICATION_TYPES = NOTIFIED_OUTCOMES.map((outcome) => `delivery.${outcome}` as const);

export const ALERT_TYPES = ['alert.opened', 'alert.reminder', 'alert.closed', 'alert.test'] as const;

export const INCIDENT_KINDS = ['breaker_opened', 'deliveries_failed', 'occurrences_skipped'] as const;

const NotificationData = z.object({
  delivery: Delivery.meta({ description: 'The delivery that ended, as the API shows it.' }),
  schedule: z
    .object({
      id: Schedule.shape.id,
      name: Schedule.shape.name,
      metadata: Schedule.shape.metadata,
    })
    .meta({ description: 'The schedule of the delivery, as it is when the notification is sent.' }),
  attempts: z.array(Attempt).max(NOTIFIED_ATTEMPTS_MAX).meta({
    description:
      'The last attempts of the delivery, at most 10. Those with a lower number come first. The list is empty if no attempt was made.',
  }),
  response: z
    .object({
      status_code: z.int().min(100).max(999).meta({ description: 'The status of the answer.', example: 503 }),
      excerpt: z.string().meta({
        description: 'The first bytes of the body: text if they are UTF-8, else base64.',
        example: 'upstream timed out',
      }),
      encoding: z
        .enum(['utf-8', 'base64'])
        .meta({ description: 'How `excerpt` is written.', example: 'utf-8' }),
      truncated: z.boolean().meta({ description: 'Whether the answer was longer.', example: false }),
    })
    .nullable()
    .meta({ description: 'The beginning of the answer to the last attempt. Null if none was kept.' }),
});

export const Notification = z
  .object({
    type: z.enum(NOTIFICATION_TYPES).meta({
      description: 'How the delivery ended.',
      example: 'delivery.dead_letter',
    }),
    id: id(
      'dlv',
      'The id of the notification, which is a delivery itself. It is sent as `Sched-Delivery-Id`, and is the same for every attempt.',
      'dlv_01m7hnxsxtzqgw5m2r7n9x0abc',
    ),
    created_at: at('When the delivery ended, and the notification was created.', '2026-11-16T08:00:10.170Z'),
    data: NotificationData.meta({ description: 'What ended, and how.' }),
  })
  .meta({ id: 'Notification', description: 'The body of a notification: how a delivery ended.' });

const Incident = z.object({
  id: z.string().meta({ description: 'The id of the incident.', example: 'inc_01m7hnxsxtzqgw5m2r7n9x0abc' }),
  condition_id: z.string().meta({
    description: 'The condition that became true.',
    example: 'alc_01m7f3gs00zqgw5m2r7n9x0abc',
  }),
  kind: z.enum(INCIDENT_KINDS).meta({
    description:
      '`breaker_opened`: the circuit breaker of an endpoint opened. `deliveries_failed`: too many deliveries ended as dead letters or expired. `occurrences_skipped`: recurring schedules skipped occurrences.',
    example: 'breaker_opened',
  }),
  endpoint: z.string().nullable().meta({
    description:
      'The id of the endpoint profile, or origin and path of the URL of schedules without one. Null if the incident is about no single endpoint.',
    example: 'https://example.com/hooks/reminder',
  }),
  opened_at: at('When the incident began.', '2026-11-16T08:00:00.000Z'),
  closed_at: at('When it was over. Null before.', '2026-11-16T08:20:00.000Z').nullable(),
});

export const Alert = z
  .object({
    type: z.enum(ALERT_TYPES).meta({
      description:
        '`alert.opened`: an incident began. `alert.reminder`: it still lasts. `alert.closed`: it is over. `alert.test`: somebody tests the channel.',
      example: 'alert.opened',
    }),
    id: id(
      'dlv',
      'The id of the message, which is sent as `Sched-Delivery-Id`. It is the same for every attempt. The message is no delivery, and no list has it.',
    ),
    created_at: at('When the message was created.', '2026-11-16T08:00:01.000Z'),
    data: z
      .object({
        title: z.string().meta({
          description: 'What happened, in one line.',
          example: 'Breaker open: https://example.com/…',
        }),
        text: z.string().meta({
          description: 'What happened, and what to do.',
          example: 'The circuit breaker of https://example.com/… opened, because its attempts kept failing.',
        }),
        url: z.string().nullable().meta({
          format: 'uri',
          description:
            'The page of the dashboard about it. Null if the service does not know its own address.',
          example: 'https://sched.example.com/dashboard',
        }),
        project: z.string().meta({ description: 'The name of the project.', example: 'billing' }),
        mode: z.enum(MODES).meta({ description: 'The mode: `test` or `live`.', example: 'live' }),
        incident: Incident.nullable().meta({ description: 'The incident. Null for `alert.test`.' }),
      })
      .meta({ description: 'What the message says.' }),
  })
  .meta({ id: 'Alert', description: 'The body that a webhook channel of an alert gets.' });

export type NotificationBody = z.infer<typeof Notification>;
export type AlertBody = z.infer<typeof Alert>;
