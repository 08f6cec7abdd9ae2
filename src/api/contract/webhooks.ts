/** The requests that a receiver gets, as webhooks of the OpenAPI document. */
import { createSecretKey } from 'node:crypto';
import { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { parseId } from '#src/domain/id.ts';
import { type Signed, signatureHeader, standardSignatureHeader } from '#src/domain/signature.ts';
import { standardWebhooksKey } from '#src/domain/signing-secret.ts';
import { exampleId, INSTANT_ANSWER_FORM, idForm } from './forms.ts';
import { Alert, Notification } from './notifications.ts';
import type { Tag } from './operation-docs.ts';
import { WEBHOOK_EXAMPLES } from './webhook-examples.ts';

const DESCRIPTION = `Sched sends this request to the \`endpoint\` of a schedule or to the \`url\` of its endpoint
profile when a delivery is due. Method, custom headers and body are the ones that you stored. \`POST\` is the default
method. \`PUT\`, \`PATCH\`, \`GET\` and \`DELETE\` carry the same headers and body.

Verify \`Sched-Signature\` before you trust a request. Do the work once for each \`Idempotency-Key\`: a request may
arrive more than once. Answer within 30 seconds, or within the \`timeout\` of the endpoint profile.

Sched reads only the status of your answer. \`Retry-After\` and other headers have no effect.

The example is a request to \`https://example.com/hooks/reminder\` with the JSON body. It is signed with
\`whsec_b25seSBmb3IgbG9jYWwgZGV2ZWxvcG1lbnQgdXNl\`, the secret of \`sched dev\`, so you can test your verification with it.`;

/** The secret that the description names. */
const SECRET = 'whsec_b25seSBmb3IgbG9jYWwgZGV2ZWxvcG1lbnQgdXNl';
const BODY = { invoice: 4711 };
/** The instant 2026-11-16T08:00:00Z, at which the schedules of the other examples fire. */
const TIMESTAMP = 1_794_816_000;
/** The instant at which the composed examples are sent. */
const COMPOSED_AT = TIMESTAMP + 11;

function signed(id: string, timestamp: number, path: string, body: object): Signed {
  const deliveryId = parseId('dlv', id);
  if (deliveryId === null) throw new Error('The example is not an id.');
  const bytes = Buffer.from(JSON.stringify(body));
  return { timestamp, deliveryId, attemptNo: 1, method: 'POST', path, body: bytes };
}

function signatureOf(...request: Parameters<typeof signed>): string {
  return signatureHeader(signed(...request), [createSecretKey(SECRET, 'utf8')]);
}

function standardSignatureOf(...request: Parameters<typeof signed>): string {
  const key = standardWebhooksKey(SECRET);
  if (key === null) throw new Error('The example is not whsec_ and base64.');
  return standardSignatureHeader(signed(...request), [createSecretKey(key)]);
}

const EXAMPLE = [exampleId('dlv'), TIMESTAMP, '/hooks/reminder', BODY] as const;

const headers = z.object({
  'Sched-Delivery-Id': z.string().meta({
    ...idForm('dlv'),
    description: 'The id of the delivery. It is the same for every attempt.',
    example: exampleId('dlv'),
  }),
  'Sched-Attempt': z.int().min(1).meta({
    description: 'The number of the attempt. A number above 1 is a retry of the same delivery.',
    example: 1,
  }),
  'Sched-Occurrence': z
    .string()
    .regex(new RegExp(INSTANT_ANSWER_FORM.pattern))
    .optional()
    .meta({
      ...INSTANT_ANSWER_FORM,
      description:
        'The nominal instant of the occurrence, before jitter, also if the delivery was moved or is late. Absent if the delivery was triggered. It is not signed.',
      example: '2026-11-16T08:00:00.000Z',
    }),
  'Idempotency-Key': z.string().min(1).meta({
    description:
      'The key of the occurrence, the same for every attempt and every replay. Receivers deduplicate on it.',
    example: 'invoice-4711',
  }),
  'Sched-Timestamp': z.int().min(0).meta({
    description:
      'The time of signing in Unix seconds. Reject a request whose timestamp is more than 300 seconds away.',
    example: TIMESTAMP,
  }),
  'Sched-Signature': z.string().meta({
    pattern: '^t=\\d+(?:,v1=[0-9a-f]{64})+$',
    description:
      'The signature, as `t=<timestamp>,v1=<signature>`. While a secret is rotated there is another `,v1=<signature>` part for each secret: accept the request if one of them matches. The signature is the HMAC-SHA256 in hexadecimal digits of `<timestamp>.<delivery id>.<attempt>.<METHOD>.<path>.<body>`, keyed with the whole signing secret.',
    example: signatureOf(...EXAMPLE),
  }),
  'webhook-id': z
    .string()
    .optional()
    .meta({
      ...idForm('dlv'),
      description:
        'The id of the delivery, for Standard Webhooks. Only with `standard_webhooks` of the endpoint profile.',
      example: exampleId('dlv'),
    }),
  'webhook-timestamp': z.int().min(0).optional().meta({
    description:
      'The same as `Sched-Timestamp`, for Standard Webhooks. Only with `standard_webhooks` of the endpoint profile.',
    example: TIMESTAMP,
  }),
  'webhook-signature': z
    .string()
    .optional()
    .meta({
      pattern: '^v1,[A-Za-z0-9+/]{43}=(?: v1,[A-Za-z0-9+/]{43}=)*$',
      description:
        'The signature of Standard Webhooks, which its libraries verify. Only with `standard_webhooks` of the endpoint profile. While a secret is rotated there is another `v1,<signature>` for each secret, separated by a space. The signature is the HMAC-SHA256 in base64 of `<webhook-id>.<webhook-timestamp>.<body>`, keyed with the decoded base64 after `whsec_` of the signing secret.',
      example: standardSignatureOf(...EXAMPLE),
    }),
  traceparent: z.string().optional().meta({
    pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-01$',
    description: 'The W3C trace context. A delivery is a trace, and an attempt is a span.',
    example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  }),
  'User-Agent': z.literal('Sched/1').meta({ description: 'Always `Sched/1`.', example: 'Sched/1' }),
});

const body = {
  description:
    'The `body` of the schedule, byte for byte. A JSON body has the type `application/json`. Any other body has the type that your headers say, or none.',
  content: {
    'application/json': {
      schema: { description: 'Any JSON that you stored as `body`.' },
      examples: { default: { summary: 'A JSON body', value: BODY } },
    },
    '*/*': {
      schema: { type: 'string' as const, description: 'Any text that you stored as `body`.' },
      examples: { default: { summary: 'A body that is not JSON', value: 'invoice=4711' } },
    },
  },
};

const RESPONSES: ZodOpenApiOperationObject['responses'] = {
  '2XX': { description: 'The delivery ends as `succeeded`.' },
  '3XX': {
    description:
      'Redirects are not followed. The attempt is `terminal`, and the delivery ends as `dead_letter`.',
  },
  '4XX': {
    description:
      'The attempt is `retryable`, whatever the status. It is repeated with backoff until an answer is 2xx. After `max_attempts` the delivery ends as `dead_letter`, and after its deadline as `expired`.',
  },
  '5XX': { description: 'The same as 4XX. No answer in time and a broken connection count as well.' },
};

type ComposedName =
  | 'Sched-Delivery-Id'
  | 'Idempotency-Key'
  | 'Sched-Timestamp'
  | 'Sched-Signature'
  | 'webhook-id'
  | 'webhook-timestamp'
  | 'webhook-signature';
const ALERT_RESPONSES: ZodOpenApiOperationObject['responses'] = {
  '2XX': { description: 'The message is delivered.' },
  '3XX': { description: 'Redirects are not followed. The message is not sent again.' },
  '4XX': {
    description: 'The message is sent again with backoff, until its attempts are used up.',
  },
  '5XX': { description: 'The same as 4XX. No answer in time and a broken connection count as well.' },
};

/** The headers of a request whose body Sched composed. It belongs to no occurrence. */
function composedHeaders(id: string, path: string, body: object) {
  const withExample = (name: ComposedName, example: string | number) => ({
    [name]: headers.shape[name].meta({ ...headers.shape[name].meta(), example }),
  });
  return headers.omit({ 'Sched-Occurrence': true }).extend({
    ...withExample('Sched-Delivery-Id', id),
    ...withExample('Idempotency-Key', id),
    ...withExample('Sched-Timestamp', COMPOSED_AT),
    ...withExample('Sched-Signature', signatureOf(id, COMPOSED_AT, path, body)),
    ...withExample('webhook-id', id),
    ...withExample('webhook-timestamp', COMPOSED_AT),
    ...withExample('webhook-signature', standardSignatureOf(id, COMPOSED_AT, path, body)),
  });
}

const SIGNED = `It is signed and retried like every delivery. Verify \`Sched-Signature\` before you trust it, and do the
work once for each \`Idempotency-Key\`.`;

function exampleText(path: string): string {
  return `The example is a request to \`https://example.com${path}\`. It is signed with \`${SECRET}\`, the secret of
\`sched dev\`, so you can test your verification with it.`;
}

const { notification, alert } = WEBHOOK_EXAMPLES;
const NOTIFICATION_PATH = '/hooks/outcomes';
const ALERT_PATH = '/hooks/alerts';

const NOTIFICATION_DESCRIPTION = `Sched sends this request when a delivery ended with an outcome that \`notify\` of its
schedule or endpoint profile names. It goes to the endpoint profile that \`notify\` names, with its method and headers.

A notification is a delivery itself, and \`GET /v1/deliveries?notification_of=\` lists it. ${SIGNED} Nobody is told how a
notification ended. The body is composed when it is sent, so a retry may show a newer name of the schedule.

${exampleText(NOTIFICATION_PATH)}`;

const ALERT_DESCRIPTION = `Sched sends this request to a webhook channel of an alert: once when an incident begins, once
when it is over, and reminders in between. The method is \`POST\`. ${SIGNED}

${exampleText(ALERT_PATH)}`;

export const WEBHOOKS: Readonly<Record<string, { readonly post: ZodOpenApiOperationObject }>> = {
  delivery: {
    post: {
      operationId: 'receiveDelivery',
      tags: ['Webhooks' satisfies Tag],
      summary: 'Receive a delivery',
      description: DESCRIPTION,
      // A receiver checks the signature. The API key is not sent to it.
      security: [],
      requestParams: { header: headers },
      requestBody: body,
      responses: RESPONSES,
    },
  },
  notification: {
    post: {
      operationId: 'receiveNotification',
      tags: ['Webhooks' satisfies Tag],
      summary: 'Receive a notification',
      description: NOTIFICATION_DESCRIPTION,
      security: [],
      requestParams: {
        header: composedHeaders(notification.default.value.id, NOTIFICATION_PATH, notification.default.value),
      },
      requestBody: {
        required: true,
        content: { 'application/json': { schema: Notification, examples: notification } },
      },
      responses: RESPONSES,
    },
  },
  alert: {
    post: {
      operationId: 'receiveAlert',
      tags: ['Webhooks' satisfies Tag],
      summary: 'Receive an alert',
      description: ALERT_DESCRIPTION,
      security: [],
      requestParams: {
        // A channel is no endpoint profile.
        header: composedHeaders(alert.default.value.id, ALERT_PATH, alert.default.value).omit({
          'webhook-id': true,
          'webhook-timestamp': true,
          'webhook-signature': true,
        }),
      },
      requestBody: { required: true, content: { 'application/json': { schema: Alert, examples: alert } } },
      responses: ALERT_RESPONSES,
    },
  },
};
