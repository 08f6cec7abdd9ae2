/**
 * Builds the OpenAPI 3.1 document from the operations, their schemas and the table of errors. It is needed only when
 * somebody reads the document, so the service loads this file and its texts then, and not at the start.
 */
import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { STRICT_APPLIED } from '#src/api/prefer.ts';
import { IDEMPOTENCY_KEY_CHARACTERS_MAX } from '#src/commands/idempotency.ts';
import { ERRORS, type ErrorCode } from '#src/domain/errors.ts';
import type { IdKind } from '#src/domain/id.ts';
import { CURRENT_VERSION } from '#src/domain/project.ts';
import { errorExamples } from './error-examples.ts';
import { OPERATION_EXAMPLES, type OperationExamples } from './examples.ts';
import { endpointName, scheduleName } from './fields.ts';
import { DATE_FORM, exampleId, idForm } from './forms.ts';
import { OPERATION_DOCS, TAGS, type Tag } from './operation-docs.ts';
import { OPERATIONS, type Operation, type OperationId } from './operations.ts';
import { ApiError } from './resources.ts';
import { type OpenApiDocument, simplifyDocument } from './simplify-document.ts';
import { WEBHOOKS } from './webhooks.ts';

export type { OpenApiDocument };

const ALWAYS: readonly ErrorCode[] = [
  'missing_api_key',
  'invalid_api_key',
  'invalid_version',
  'invalid_request',
  'internal_error',
  'unavailable',
];

/** An operation without a body ignores a small one. */
const CHANGES: readonly ErrorCode[] = ['unknown_field', 'payload_too_large'];

const DESCRIPTION = `Sched stores schedules and sends the HTTP request of each schedule at its instant.

Every request needs the header \`Authorization: Bearer <key>\`. A key sees only its own project and mode. Bodies are
JSON. Durations are written as in Go (\`30s\`, \`1h30m\`), and instants as in RFC 3339. Every answer has the header
\`Sched-Request-Id\`. An operation that accepts \`Idempotency-Key\` takes effect once per key within 24 hours. A
repeated answer has the header \`Idempotent-Replayed: true\`. Clients must ignore unknown fields. The newest version
of the API is \`${CURRENT_VERSION}\`: breaking changes get a new date, which \`Sched-Version\` chooses.

A body field that the operation does not know is ignored, and the header \`Sched-Ignored-Fields\` of the answer names
it. With the header \`Prefer: handling=strict\` it is refused with \`unknown_field\`. A query parameter of a GET that is
unknown or empty is ignored and named too, and it is never refused.`;

const KEY_DESCRIPTION = `The API key, sent as \`Authorization: Bearer <key>\`. A key that begins with \`sk_test_\` sees
only test data of its project, and one that begins with \`sk_live_\` only live data.`;

const requestId = z.string().meta({
  ...idForm('req'),
  description: 'The id of this request, for logs and support.',
  example: exampleId('req'),
  header: { id: 'Sched-Request-Id' },
});
const servedVersion = z
  .string()
  .optional()
  .meta({
    ...DATE_FORM,
    description: 'The version of the API that served the request. Absent if the key was refused.',
    example: CURRENT_VERSION,
    header: { id: 'Sched-Version' },
  });
const replayed = z
  .literal('true')
  .optional()
  .meta({
    description: 'Present if this is the stored answer to an earlier request with the same key.',
    example: 'true',
    header: { id: 'Idempotent-Replayed' },
  });

const preferenceApplied = z
  .literal(STRICT_APPLIED)
  .optional()
  .meta({
    description: 'Present if the request asked for strict handling.',
    example: STRICT_APPLIED,
    header: { id: 'Preference-Applied' },
  });
const ignoredFields = z
  .string()
  .optional()
  .meta({
    description:
      'What was ignored, at most 20 names, separated by commas. For GET these are parameters of the query that are unknown or empty, otherwise fields of the body. A nested field is a path with dots. Names are percent-encoded, and have at most 100 characters.',
    example: 'timeout, retry_policy.max_retries',
    header: { id: 'Sched-Ignored-Fields' },
  });

const unchanged = z
  .literal('true')
  .optional()
  .meta({
    description: 'Present if the object was equal to the body already, so that nothing was written.',
    example: 'true',
    header: { id: 'Sched-Unchanged' },
  });

const replayedHeader = { 'Idempotent-Replayed': replayed };

/** The headers that every answer can have, errors included. */
function everyHeader({ method }: Operation) {
  return {
    'Sched-Request-Id': requestId,
    'Sched-Version': servedVersion,
    'Sched-Ignored-Fields': ignoredFields,
    ...(method !== 'GET' && { 'Preference-Applied': preferenceApplied }),
  };
}

function successHeaders(operation: Operation) {
  return z.object({
    ...everyHeader(operation),
    ...(operation.idempotent && replayedHeader),
    ...(operation.method === 'PUT' && { 'Sched-Unchanged': unchanged }),
  });
}

export function openApiDocument(): OpenApiDocument {
  const paths: ZodOpenApiPathsObject = {};
  for (const [id, operation] of Object.entries(OPERATIONS) as [OperationId, Operation][]) {
    const path = `/v1${operation.path}`;
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(id, operation) };
  }
  const document = createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Sched',
      summary: 'Scheduled HTTP requests, on time and never lost.',
      version: 'v0',
      description: DESCRIPTION,
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This service' }],
    security: [{ apiKey: [] }],
    tags: (Object.keys(TAGS) as Tag[]).map((name) => ({ name, description: TAGS[name] })),
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: KEY_DESCRIPTION },
      },
      examples: errorExamples(),
    },
    paths,
    webhooks: WEBHOOKS,
  });
  return simplifyDocument(document);
}

function describe(id: OperationId, operation: Operation): ZodOpenApiOperationObject {
  const { tag, summary, description, query, answer } = OPERATION_DOCS[id];
  const examples = OPERATION_EXAMPLES[id];
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    requestParams: {
      ...(operation.path.includes('{') && { path: pathParameters(operation) }),
      ...(query && { query }),
      header: requestHeaders(operation),
    },
    ...(operation.body && {
      requestBody: {
        required: operation.body.required,
        content: {
          'application/json': {
            schema: operation.body.schema,
            ...(examples.request && { examples: examples.request }),
          },
        },
      },
    }),
    responses: {
      [`${operation.status}`]: {
        description: answerDescription(operation, id),
        headers: successHeaders(operation),
        content: { 'application/json': { schema: answer, examples: examples.answer } },
      },
      ...(operation.mayCreate && {
        '201': {
          description: 'The object that was created.',
          headers: successHeaders(operation),
          content: { 'application/json': { schema: createdBy(answer), examples: firstOf(examples.answer) } },
        },
      }),
      ...errorResponses(operation),
    },
  };
}

function answerDescription({ method, status }: Operation, id: OperationId): string {
  if (id.startsWith('list')) return 'One page of the list.';
  if (status === 201) return 'The object that was created.';
  return method === 'GET' ? 'The object.' : 'The object as it is now.';
}

const OBJECTS: readonly (readonly [path: string, kind: IdKind, name: string])[] = [
  ['/schedules/', 'sch', 'schedule'],
  ['/endpoints/', 'ep', 'endpoint profile'],
  ['/deliveries/', 'dlv', 'delivery'],
];

function pathParameters({ path }: Operation) {
  const object = OBJECTS.find(([start]) => path.startsWith(start));
  if (object === undefined) throw new Error(`The path ${path} names no object.`);
  const [, kind, name] = object;
  return z.object({
    ...(path.includes('{id}') && {
      id: z.string().meta({
        ...idForm(kind),
        description: `The id of the ${name}. An unknown id answers 404.`,
        example: exampleId(kind),
      }),
    }),
    ...(path.includes('{name}') && { name: kind === 'sch' ? scheduleName : endpointName }),
    ...(path.includes('{attempt_no}') && {
      attempt_no: z.int().min(1).meta({ description: 'The number of the attempt.', example: 1 }),
    }),
  });
}

function firstOf(examples: OperationExamples['answer']): OperationExamples['answer'] {
  return Object.fromEntries(Object.entries(examples).slice(0, 1));
}

/** A plan creates nothing. */
function createdBy(answer: z.ZodType): z.ZodType {
  return answer instanceof z.ZodUnion ? (answer.options[0] as z.ZodType) : answer;
}

function requestHeaders(operation: Operation) {
  const version = z
    .string()
    .optional()
    .meta({
      ...DATE_FORM,
      description:
        'The version of the API, as a date. The newest version that is not later serves the request. The default is the version of the project.',
      example: CURRENT_VERSION,
    });
  const key = z.string().max(IDEMPOTENCY_KEY_CHARACTERS_MAX).optional().meta({
    description:
      'Makes the request safe to repeat: within 24 hours the same key gives the same answer. A UUID is a good choice.',
    example: '4e1f4f5e-3c6b-4d8a-9a52-0c1c4b7f3f10',
  });
  const prefer = z.string().optional().meta({
    description:
      'Preferences as in RFC 7240. With `handling=strict`, a body field that would be ignored is refused with `unknown_field`.',
    example: STRICT_APPLIED,
  });
  return z.object({
    ...(operation.idempotent && { 'Idempotency-Key': key }),
    ...(operation.method !== 'GET' && { Prefer: prefer }),
    'Sched-Version': version,
  });
}

/** The error responses by status, each with its possible codes. */
function errorResponses(operation: Operation): ZodOpenApiOperationObject['responses'] {
  const namesObject = operation.path.includes('{') && operation.method !== 'PUT';
  const notFound: readonly ErrorCode[] = namesObject ? ['not_found'] : [];
  const change: readonly ErrorCode[] = operation.method === 'GET' ? [] : CHANGES;
  const codes = [...new Set([...operation.errors, ...change, ...notFound, ...ALWAYS])];
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const codesOfStatus = codes.filter((code) => ERRORS[code].status === status);
      const response = {
        description: codesOfStatus.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join('\n\n'),
        headers: z.object(everyHeader(operation)),
        content: {
          'application/json': {
            schema: ApiError,
            examples: Object.fromEntries(
              codesOfStatus.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
            ),
          },
        },
      };
      return [`${status}`, response];
    }),
  );
}
