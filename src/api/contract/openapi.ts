/** Builds the OpenAPI 3.1 document from the operations, their schemas and the table of errors. */
import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { ERRORS, type ErrorCode } from '#src/domain/errors.ts';
import { CURRENT_VERSION } from '#src/domain/project.ts';
import { OPERATIONS, type Operation, type OperationId } from './operations.ts';
import { ApiError } from './resources.ts';

export type OpenApiDocument = ReturnType<typeof createDocument>;

const ALWAYS: readonly ErrorCode[] = [
  'missing_api_key',
  'invalid_api_key',
  'invalid_version',
  'internal_error',
  'unavailable',
];

const DESCRIPTION = `Sched stores schedules and sends the HTTP request of each schedule at its instant.

Every request needs the header \`Authorization: Bearer <key>\`. A key sees only its own project and mode. Bodies are
JSON. Durations are written as in Go (\`30s\`, \`1h30m\`), and instants as in RFC 3339. Every answer has the header
\`Sched-Request-Id\`. An operation that accepts \`Idempotency-Key\` takes effect once per key within 24 hours. A
repeated answer has the header \`Idempotent-Replayed: true\`. Clients must ignore unknown fields.`;

const responseHeaders = z.object({
  'Sched-Request-Id': z.string().meta({ description: 'The id of this request, for logs and support.' }),
  'Sched-Version': z.string().meta({ description: 'The version of the API that served the request.' }),
});

const replayHeader = z.object({
  'Idempotent-Replayed': z
    .literal('true')
    .optional()
    .meta({ description: 'Present if this is the stored answer to an earlier request with the same key.' }),
});

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
      version: 'v0',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This service' }],
    security: [{ apiKey: [] }],
    tags: [...new Set(Object.values(OPERATIONS).map(({ tag }) => tag))].map((name) => ({ name })),
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'sk_test_… or sk_live_…' },
      },
    },
    paths,
  });
  return allowMoreFields(document);
}

const OUTPUT_SUFFIX = 'Output';

/**
 * Answers may get new fields at any time, so `additionalProperties: false` is removed. Objects that are used in
 * requests and in answers then have two equal schemas, of which one is kept.
 */
function allowMoreFields(document: OpenApiDocument): OpenApiDocument {
  const text = JSON.stringify(document, (key, value: unknown) =>
    key === 'additionalProperties' && value === false ? undefined : value,
  );
  const names = Object.keys(document.components?.schemas ?? {});
  const duplicates = names.filter((name) => names.includes(`${name}${OUTPUT_SUFFIX}`));
  const merged = duplicates.reduce(
    (json, name) => json.replaceAll(`schemas/${name}${OUTPUT_SUFFIX}"`, `schemas/${name}"`),
    text,
  );
  const result = JSON.parse(merged) as OpenApiDocument;
  for (const name of duplicates) delete result.components?.schemas?.[`${name}${OUTPUT_SUFFIX}`];
  return result;
}

function describe(id: OperationId, operation: Operation): ZodOpenApiOperationObject {
  const headers = operation.idempotent ? responseHeaders.extend(replayHeader.shape) : responseHeaders;
  return {
    operationId: id,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    requestParams: {
      ...(operation.path.includes('{id}') && { path: z.object({ id: z.string() }) }),
      ...(operation.query && { query: operation.query }),
      header: requestHeaders(operation),
    },
    ...(operation.body && {
      requestBody: {
        required: operation.body.required,
        content: { 'application/json': { schema: operation.body.schema } },
      },
    }),
    responses: {
      [`${operation.status}`]: {
        description: operation.status === 201 ? 'Created' : 'OK',
        headers,
        content: { 'application/json': { schema: operation.answer } },
      },
      ...errorResponses(operation),
    },
  };
}

function requestHeaders(operation: Operation) {
  const version = z.iso.date().optional().meta({
    description: 'The version of the API. The default is the version of the project.',
    example: CURRENT_VERSION,
  });
  const key = z
    .string()
    .max(255)
    .optional()
    .meta({ description: 'Makes the request safe to repeat. A UUID is a good choice.' });
  return operation.idempotent
    ? z.object({ 'Idempotency-Key': key, 'Sched-Version': version })
    : z.object({ 'Sched-Version': version });
}

/** The error responses by status, each with its possible codes. */
function errorResponses(operation: Operation): ZodOpenApiOperationObject['responses'] {
  const notFound: readonly ErrorCode[] = operation.path.includes('{id}') ? ['not_found'] : [];
  const codes = [...new Set([...operation.errors, ...notFound, ...ALWAYS])];
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const codesOfStatus = codes.filter((code) => ERRORS[code].status === status);
      const response = {
        description: codesOfStatus.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join('\n\n'),
        headers: z.object({ 'Sched-Request-Id': z.string() }),
        content: { 'application/json': { schema: ApiError } },
      };
      return [`${status}`, response];
    }),
  );
}
