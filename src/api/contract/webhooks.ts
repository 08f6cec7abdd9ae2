/** The request that a receiver gets, as a webhook of the OpenAPI document. */
import { createSecretKey } from 'node:crypto';
import { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { parseId } from '#src/domain/id.ts';
import { signatureHeader } from '#src/domain/signature.ts';
import { exampleId, INSTANT_ANSWER_FORM, idForm } from './forms.ts';
import type { Tag } from './operation-docs.ts';

const DESCRIPTION = `Sched sends this request to the \`endpoint\` of a schedule or to the \`url\` of its endpoint
profile when a delivery is due. Method, custom headers and body are the ones that you stored. \`POST\` is the default
method. \`PUT\`, \`PATCH\`, \`GET\` and \`DELETE\` carry the same headers and body.

Verify \`Sched-Signature\` before you trust a request. Do the work once for each \`Idempotency-Key\`: a request may
arrive more than once. Answer within 30 seconds, or within the \`timeout\` of the endpoint profile.

Sched reads only the status of your answer. \`Retry-After\` and other headers have no effect.

The example is a request to \`https://example.com/hooks/reminder\` with the JSON body. It is signed with
\`whsec_local_development_only\`, the secret of \`sched dev\`, so you can test your verification with it.`;

/** The secret that the description names. */
const SECRET = 'whsec_local_development_only';
const BODY = { invoice: 4711 };
/** The instant 2026-11-16T08:00:00Z, at which the schedules of the other examples fire. */
const TIMESTAMP = 1_794_816_000;

const SIGNATURE = signatureHeader(
  {
    timestamp: TIMESTAMP,
    deliveryId: exampleDelivery(),
    attemptNo: 1,
    method: 'POST',
    path: '/hooks/reminder',
    body: Buffer.from(JSON.stringify(BODY)),
  },
  [createSecretKey(SECRET, 'utf8')],
);

function exampleDelivery() {
  const id = parseId('dlv', exampleId('dlv'));
  if (id === null) throw new Error('The example is not an id.');
  return id;
}

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
    example: SIGNATURE,
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
      responses: {
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
      },
    },
  },
};
