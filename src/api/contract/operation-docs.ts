/** The texts, the query and the answer of each operation, for the OpenAPI document. */
import { z } from 'zod';
import { CURSOR_CHARACTERS_MAX } from '#src/api/cursor.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, URL_PART_CHARACTERS_MAX } from '#src/api/query.ts';
import { ATTEMPT_OUTCOMES, DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import { LABELS_MAX } from '#src/domain/labels.ts';
import { NAME_CHARACTERS_MAX } from '#src/domain/name.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES } from '#src/domain/schedule.ts';
import { exampleId, INSTANT_FORM } from './forms.ts';
import type { OperationId } from './operations.ts';
import {
  Attempt,
  AttemptResponse,
  Delivery,
  Endpoint,
  listOf,
  Plan,
  RecentAttempt,
  Schedule,
} from './resources.ts';

export const TAGS = {
  Schedules: 'A schedule says what to send, where and when. It is one-shot or recurring.',
  'Endpoint profiles':
    'An endpoint profile is a destination with its policy: URL, headers, timeout, retries and circuit breaker. Many schedules can use it.',
  Deliveries:
    'A delivery is one occurrence of a schedule. It is sent until it succeeds, and every attempt is recorded.',
  Webhooks: 'The requests that Sched sends to your endpoints.',
} as const;

export type Tag = keyof typeof TAGS;

export interface OperationDoc {
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly query: z.ZodObject | null;
  readonly answer: z.ZodType;
}

const page = {
  cursor: z.string().optional().meta({
    description: '`next_cursor` of the previous page of the same list. Leave it out for the first page.',
    maxLength: CURSOR_CHARACTERS_MAX,
    example: 'q83vEjRWc2NoXzAxbTdmM2dzMDB6cWd3NW0ycjduOXgwYWJj',
  }),
  limit: z.int().optional().meta({
    description: 'The number of items on a page. A value out of range is replaced and not refused.',
    minimum: 1,
    maximum: LIMIT_MAX,
    default: LIMIT_DEFAULT,
    example: 50,
  }),
};

/** Filters by label are sent as `metadata[team]=billing`. */
const labelFilter = z
  .record(z.string(), z.string())
  .optional()
  .meta({
    description:
      'Lists only schedules with these labels, sent as `metadata[team]=billing`. Several labels must all match.',
    maxProperties: LABELS_MAX,
    example: { team: 'billing' },
    param: { style: 'deepObject', explode: true },
  });

function createdBound(description: string) {
  return z
    .string()
    .optional()
    .meta({ ...INSTANT_FORM, description, example: '2026-11-15T00:00:00Z' });
}

function ofProfile(what: string) {
  return z
    .string()
    .optional()
    .meta({
      description: `Lists only ${what} of this endpoint profile. An unknown id gives an empty list.`,
      example: exampleId('ep'),
    });
}

const dryRun = z.boolean().optional().meta({
  description: 'Writes nothing, and answers what would happen (`Plan`).',
  default: false,
  example: true,
});

const ScheduleList = listOf('Schedule', Schedule);
const DeliveryList = listOf('Delivery', Delivery);
const AttemptList = listOf('Attempt', Attempt);
const RecentAttemptList = listOf('RecentAttempt', RecentAttempt);
const EndpointList = listOf('Endpoint', Endpoint);

function schedules(
  summary: string,
  description: string,
  answer: z.ZodType = Schedule,
  query: z.ZodObject | null = null,
): OperationDoc {
  return { tag: 'Schedules', summary, description, query, answer };
}

function profiles(
  summary: string,
  description: string,
  answer: z.ZodType = Endpoint,
  query: z.ZodObject | null = null,
): OperationDoc {
  return { tag: 'Endpoint profiles', summary, description, query, answer };
}

function deliveries(
  summary: string,
  description: string,
  answer: z.ZodType = Delivery,
  query: z.ZodObject | null = null,
): OperationDoc {
  return { tag: 'Deliveries', summary, description, query, answer };
}

export const OPERATION_DOCS: Readonly<Record<OperationId, OperationDoc>> = {
  createSchedule: schedules(
    'Create a schedule',
    'Stores what to send, where and when. After the answer 201, the delivery is attempted, or it ends with a recorded status.',
  ),
  listSchedules: schedules(
    'List schedules',
    'The newest schedules come first. With `q`, or with several of `metadata`, `name` and `endpoint_id`, a page may be short or empty although `has_more` is true.',
    ScheduleList,
    z.object({
      ...page,
      state: z
        .enum(SCHEDULE_STATES)
        .optional()
        .meta({ description: 'Lists only schedules in this state.', example: 'active' }),
      kind: z
        .enum(SCHEDULE_KINDS)
        .optional()
        .meta({ description: 'Lists only schedules of this kind.', example: 'recurring' }),
      name: z.string().optional().meta({
        description:
          'Lists only schedules with exactly this name: the one that has not ended, and those that had it when they ended.',
        maxLength: NAME_CHARACTERS_MAX,
        example: 'daily-report',
      }),
      endpoint_id: ofProfile('schedules'),
      q: z.string().optional().meta({
        description:
          'Lists only schedules whose URL contains this text. Upper and lower case of the letters A to Z are the same. With an endpoint profile, its present URL counts.',
        maxLength: URL_PART_CHARACTERS_MAX,
        example: 'example.com/hooks',
      }),
      metadata: labelFilter,
    }),
  ),
  getSchedule: schedules('Get a schedule', 'Shows a schedule and its next runs.'),
  updateSchedule: schedules(
    'Change a schedule',
    'Also changes the pending delivery, unless it is being sent. Timing fields are ignored: use reschedule.',
  ),
  putSchedule: schedules(
    'Create or change a schedule by its name',
    'Makes the schedule with this name equal to the body. Without one it is created (201). Fields that are left out have their defaults. If the timing is the same, the next request keeps its instant. If everything is the same, nothing is written. The request is safe to repeat without `Idempotency-Key`. `delay` is refused, because it names no fixed instant.',
    z.union([Schedule, Plan]),
    z.object({ dry_run: dryRun }),
  ),
  getNamedSchedule: schedules(
    'Get a schedule by its name',
    'Shows the active or paused schedule that has this name.',
  ),
  triggerSchedule: schedules(
    'Send a request now',
    'Creates a delivery of a recurring schedule that is due now, beside its recurrence (201). A one-shot schedule that waits fires now (200).',
    Delivery,
  ),
  rescheduleSchedule: schedules(
    'Change when a schedule fires',
    'For a recurring schedule, an instant moves only the next occurrence, and `cron` replaces the recurrence. `cron` makes a one-shot schedule recurring. A delivery that is being sent is not moved.',
  ),
  pauseSchedule: schedules(
    'Pause a schedule',
    'Pending deliveries wait until the schedule is resumed. Pausing a paused or ended schedule changes nothing.',
  ),
  resumeSchedule: schedules(
    'Resume a schedule',
    'A one-shot schedule whose instant has passed fires at once, or expires if its ttl has passed. A recurring schedule skips the occurrences that it missed.',
  ),
  cancelSchedule: schedules(
    'Cancel a schedule',
    'Cannot be undone. The history is kept. A delivery that is being sent finishes its attempt and is not retried.',
  ),
  listScheduleDeliveries: schedules(
    'List the deliveries of a schedule',
    'The newest deliveries come first. With several of `schedule_id`, `endpoint_id` and `replay_of`, or with `replay_of` and `status`, a page may be short or empty although `has_more` is true.',
    DeliveryList,
    z.object(page),
  ),
  createEndpoint: profiles(
    'Create an endpoint profile',
    'Stores a destination with its policy. Schedules name it as `endpoint_id`.',
  ),
  listEndpoints: profiles(
    'List endpoint profiles',
    'The newest endpoint profiles come first. Archived ones are left out unless they are asked for.',
    EndpointList,
    z.object({
      ...page,
      include_archived: z
        .boolean()
        .optional()
        .meta({ description: 'Also lists archived profiles.', default: false, example: true }),
    }),
  ),
  getEndpoint: profiles('Get an endpoint profile', 'Shows the current version, also of an archived profile.'),
  updateEndpoint: profiles(
    'Change an endpoint profile',
    'Creates a new version. Existing deliveries keep their version, and later ones use the new version.',
  ),
  putEndpoint: profiles(
    'Create or change an endpoint profile by its name',
    'Makes the profile with this name equal to the body. Without one it is created (201). Fields that are left out have their defaults. A change creates a new version. If everything is the same, nothing is written.',
    z.union([Endpoint, Plan]),
    z.object({ dry_run: dryRun }),
  ),
  getNamedEndpoint: profiles(
    'Get an endpoint profile by its name',
    'Shows the unarchived profile that has this name.',
  ),
  archiveEndpoint: profiles(
    'Archive an endpoint profile',
    'The profile can still be read, but new schedules cannot use it. Archiving an archived profile changes nothing.',
  ),
  listDeliveries: deliveries(
    'List deliveries',
    'The newest deliveries come first.',
    DeliveryList,
    z.object({
      ...page,
      status: z
        .enum(DELIVERY_STATUSES)
        .optional()
        .meta({ description: 'Lists only deliveries with this status.', example: 'dead_letter' }),
      schedule_id: z
        .string()
        .optional()
        .meta({
          description: 'Lists only deliveries of this schedule. An unknown id gives an empty list.',
          example: exampleId('sch'),
        }),
      endpoint_id: ofProfile('deliveries'),
      replay_of: z
        .string()
        .optional()
        .meta({
          description: 'Lists only replays of this delivery. An unknown id gives an empty list.',
          example: exampleId('dlv'),
        }),
      notification_of: z
        .string()
        .optional()
        .meta({
          description:
            'Lists only notifications of how this delivery ended. An unknown id gives an empty list.',
          example: exampleId('dlv'),
        }),
      created_after: createdBound('Lists only deliveries that were created after this instant.'),
      created_before: createdBound('Lists only deliveries that were created before this instant.'),
    }),
  ),
  getDelivery: deliveries('Get a delivery', 'Shows a delivery with its status.'),
  replayDelivery: deliveries(
    'Replay a finished delivery',
    'Creates a new delivery that is due now, with the same request and the same Idempotency-Key. A receiver that deduplicates ignores it if it has processed the original.',
  ),
  cancelDelivery: deliveries(
    'Cancel a delivery',
    'Ends a delivery that waits for a retry. The only delivery of a one-shot schedule is canceled with the schedule.',
  ),
  getAttemptResponse: deliveries(
    'Get the answer of an attempt',
    'Shows the first bytes of an answer that was not 2xx, if the endpoint profile or the operator lets them be kept.',
    AttemptResponse,
  ),
  listRecentAttempts: deliveries(
    'List attempts',
    'Lists the attempts of all deliveries that have ended. Those that ended last come first.',
    RecentAttemptList,
    z.object({
      ...page,
      outcome: z
        .enum(ATTEMPT_OUTCOMES)
        .optional()
        .meta({ description: 'Lists only attempts with this outcome.', example: 'retryable' }),
      endpoint_id: ofProfile('attempts'),
    }),
  ),
  listAttempts: deliveries(
    'List the attempts of a delivery',
    'The first attempt comes first. An attempt in flight is listed too.',
    AttemptList,
    z.object(page),
  ),
};
