/** The document says something about everything in it, and shows an example. */
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { verify } from '#sdk/index.ts';
import { ERRORS, type ErrorCode } from '#src/domain/errors.ts';
import { outboundHeaders } from '#src/domain/outbound-headers.ts';
import { faultsOf } from '#test/e2e/document.ts';
import { openApiDocument } from './openapi.ts';

type Json = Readonly<Record<string, unknown>>;
interface Media {
  readonly schema: Json;
  readonly examples: Readonly<Record<string, { readonly $ref?: string; readonly value?: unknown }>>;
}
interface Described {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters: readonly (Json & { readonly name: string; readonly in: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Json & { readonly content?: Readonly<Record<string, Media>> }>>;
}

const document = openApiDocument();
const webhooks = (document.webhooks ?? {}) as unknown as Readonly<
  Record<string, { readonly post: Described }>
>;
const { schemas = {}, headers = {}, examples = {} } = document.components ?? {};
const operations = Object.values(document.paths ?? {}).flatMap((path) => Object.values(path as object));
const received = Object.values(webhooks).map(({ post }) => post);
const described = [...operations, ...received] as readonly Described[];
const byId = described.map((operation) => [operation.operationId, operation] as const);

/** Lists the fields of a schema that have no description, with those of the objects in it. */
function silentFields(schema: Json, path: string): readonly string[] {
  const fields = Object.entries((schema.properties ?? {}) as Readonly<Record<string, Json>>);
  return fields.flatMap(([name, field]) => [
    ...(field.description === undefined ? [`${path}.${name}`] : []),
    ...silentFields(field, `${path}.${name}`),
  ]);
}

describe('every', () => {
  test.each(Object.entries(schemas) as [string, Json][])('field of %s has a description', (name, schema) => {
    expect(schema.description).toBeDefined();
    expect(silentFields(schema, name)).toEqual([]);
  });

  test.each(byId)('text of %s is there', (_id, operation) => {
    expect([operation.summary, operation.description]).not.toContain(undefined);
    const parts = [...operation.parameters, ...Object.values(operation.responses)];
    for (const part of parts) expect(part).toHaveProperty('description');
  });

  test('header and every tag has a description', () => {
    for (const part of [...Object.values(headers), ...(document.tags ?? [])]) {
      expect(part).toHaveProperty('description');
    }
  });

  test('text ends like a sentence', () => {
    const texts = [...JSON.stringify(document).matchAll(/"description":("(?:[^"\\]|\\.)*")/g)]
      .map(([, text = '']) => JSON.parse(text) as string)
      .filter((text) => !text.includes('\n'));
    expect(texts.filter((text) => !/[.)]$/.test(text) && text !== 'This service')).toEqual([]);
  });
});

describe('the examples', () => {
  test.each(byId)('of %s fit their schemas', (_id, { requestBody, responses }) => {
    const medias = [requestBody, ...Object.values(responses)].flatMap((part) =>
      Object.values(part?.content ?? {}),
    );
    for (const media of medias) {
      const values = Object.values(media.examples).map(({ $ref, value }) =>
        $ref === undefined ? value : (examples[$ref.split('/').at(-1) ?? ''] as Json).value,
      );
      expect(values.length).toBeGreaterThan(0);
      for (const value of values) expect(faultsOf(media.schema, value)).toBe('');
    }
  });

  test('of fields and parameters fit their schemas', () => {
    const parameters = described.flatMap((operation) => operation.parameters.map(({ schema }) => schema));
    const fields = (Object.values(schemas) as Json[]).flatMap(({ properties }) =>
      Object.values(properties ?? {}),
    );
    for (const schema of [...parameters, ...fields] as Json[]) {
      const { examples: values = [] } = schema as { examples?: readonly unknown[] };
      for (const value of values) expect([value, faultsOf(schema, value)]).toEqual([value, '']);
    }
  });

  test('name every code, and every code belongs to an operation', () => {
    const codes = Object.keys(ERRORS) as ErrorCode[];
    expect(Object.keys(examples).toSorted()).toEqual(codes.toSorted());
    const used = new Set(JSON.stringify(operations).match(/(?<=#\/components\/examples\/)\w+/g));
    expect(codes.filter((code) => !used.has(code))).toEqual([]);
  });
});

test.each(received.map((webhook) => [webhook.operationId, webhook] as const))(
  'the webhook %s has exactly the headers that a delivery sends',
  (id, { parameters }) => {
    const sent = outboundHeaders({
      delivery: { id: 'dlv_1', idempotencyKey: 'key', target: { method: 'POST' } },
      attempt: { id: 'att_1', attemptNo: 1 },
      path: '/',
      trace: '',
      headers: [],
      body: null,
      keys: [],
      standardKeys: [],
      now: 0,
    } as unknown as Parameters<typeof outboundHeaders>[0]);
    const names = parameters.map(({ name }) => name);
    // A body that Sched composed belongs to no occurrence.
    const expected = sent
      .map(([name]) => name)
      .filter((name) => id === 'receiveDelivery' || name !== 'Sched-Occurrence')
      .filter((name) => id !== 'receiveAlert' || !name.startsWith('webhook-'));
    expect(names.toSorted()).toEqual(expected.toSorted());
  },
);

test.each(received.map((webhook) => [webhook.operationId, webhook] as const))(
  'the example of %s verifies with the secret of its description',
  async (_id, { description = '', parameters, requestBody }) => {
    const sent = parameters.map(
      ({ name, schema }) =>
        [name, String((schema as { readonly examples: readonly unknown[] }).examples[0])] as const,
    );
    const request = {
      method: 'POST',
      url: /https:[^`]+/.exec(description)?.[0] ?? '',
      headers: Object.fromEntries(sent),
      body: JSON.stringify(requestBody?.content['application/json']?.examples.default?.value),
    };
    const secret = /whsec_\w+/.exec(description)?.[0] ?? '';
    const now = Number(request.headers['Sched-Timestamp']) * 1_000;
    expect(await verify(request, secret, { now })).toMatchObject({ ok: true });
    const standard = request.headers['webhook-signature'];
    if (standard === undefined) return;
    const id = request.headers['webhook-id'] ?? '';
    expect(new Webhook(secret).sign(id, new Date(now), request.body)).toBe(standard);
  },
);
