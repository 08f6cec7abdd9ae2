/** Cases of single frameworks: another part of the program may have read the body before. */
import { once } from 'node:events';
import { connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { receiver as forExpress, keepRawBody } from '#sdk/receiver/express.ts';
import { receiver as forFastify } from '#sdk/receiver/fastify.ts';
import { receiver as forFetch } from '#sdk/receiver/fetch.ts';
import { receiver as forHono } from '#sdk/receiver/hono.ts';
import { serve, serveFetch } from './adapter-servers.ts';
import { send } from './send.ts';
import { SECRET, signedHeaders } from './signing.ts';

const BODY = '{ "n" : 1.0 }\n';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const BODY_BYTES_MAX = 1_048_576;
const OPTIONS = { secret: SECRET, handle: () => {} };

describe.concurrent('express after a parser', () => {
  function behind(parser: RequestHandler, errors: string[] = []) {
    const app = express();
    app.use(parser);
    app.post('/hook', forExpress(OPTIONS));
    app.use((error: Error, _req: express.Request, res: express.Response, _next: express.NextFunction) => {
      errors.push(error.message);
      res.sendStatus(500);
    });
    return serve(app);
  }

  const any = { type: () => true, limit: '1mb' };
  it.each([
    ['express.json that keeps the raw body', express.json({ verify: keepRawBody, limit: '1mb' })],
    ['express.raw', express.raw(any)],
    ['express.text', express.text(any)],
    ['express.json for another type', express.json({ type: 'application/vnd.other+json' })],
  ])('%s', async (_what, parser) => {
    await using server = await behind(parser);
    const longest = `["${'x'.repeat(BODY_BYTES_MAX - 4)}"]`;
    expect((await send(server.port, { body: longest, headers: JSON_TYPE })).status).toBe(204);
    expect((await send(server.port, { body: BODY, headers: JSON_TYPE })).status).toBe(204);
    expect((await send(server.port, { headers: JSON_TYPE })).status).toBe(204);
    const altered = { body: BODY, arrives: { body: BODY.trim() }, headers: JSON_TYPE };
    expect((await send(server.port, altered)).status).toBe(401);
  });

  it('express.json: the error says what to do', async () => {
    const errors: string[] = [];
    await using server = await behind(express.json(), errors);
    expect((await send(server.port, { body: BODY, headers: JSON_TYPE })).status).toBe(500);
    expect(errors).toEqual([expect.stringContaining('express.json({ verify: keepRawBody,')]);
    // Without a body, the parser reads nothing.
    expect((await send(server.port, { headers: JSON_TYPE })).status).toBe(204);
  });
});

describe.concurrent('a body that is too long', () => {
  it('is refused even if a parser of express accepted it', async () => {
    const app = express();
    app.use(express.raw({ type: () => true }));
    app.post('/hook', forExpress({ ...OPTIONS, bodyBytesMax: BODY.length - 1 }));
    await using server = await serve(app);
    expect((await send(server.port, { body: BODY })).status).toBe(413);
  });

  it('closes the connection without reading the rest', async () => {
    const app = express();
    app.post('/hook', forExpress({ ...OPTIONS, bodyBytesMax: 1 }));
    await using server = await serve(app);
    const init = { method: 'POST', headers: signedHeaders({ body: BODY }), body: BODY };
    const response = await fetch(`http://127.0.0.1:${server.port}/hook`, init);
    expect([response.status, response.headers.get('connection')]).toEqual([413, 'close']);
  });
});

describe.concurrent('hono after a middleware that read the body', () => {
  it.each([
    ['through Hono, which keeps it', 204, (request: { json(): Promise<unknown> }) => request.json()],
    ['without Hono', 500, (request: { readonly raw: Request }) => request.raw.text()],
  ])('%s', async (_how, status, read) => {
    const app = new Hono();
    app.use(async ({ req }, next) => {
      await read(req);
      await next();
    });
    app.post('/hook', forHono(OPTIONS));
    app.onError((_error, context) => context.body(null, 500));
    await using server = await serveFetch(app.fetch);
    expect((await send(server.port, { body: BODY, headers: JSON_TYPE })).status).toBe(status);
  });
});

it('hono: a body that changed when it was read as text does not verify', async () => {
  const app = new Hono();
  app.use(async ({ req }, next) => {
    await req.text();
    await next();
  });
  app.post('/hook', forHono(OPTIONS));
  await using server = await serveFetch(app.fetch);
  expect((await send(server.port, { body: BODY })).status).toBe(204);
  expect((await send(server.port, { body: `\ufeff${BODY}` })).status).toBe(401);
});

it('fastify itself answers 415 to a malformed content type', async () => {
  const app = Fastify();
  await app.register(forFastify, { url: '/hook', ...OPTIONS });
  const headers = { ...signedHeaders({ body: BODY }), 'Content-Type': 'nonsense' };
  const answer = await app.inject({ method: 'POST', url: '/hook', headers, payload: BODY });
  expect(answer.statusCode).toBe(415);
  await app.close();
});

it('fastify over HTTP/2: the answer to a body that is too long has no headers of HTTP/1', async () => {
  const warnings: Error[] = [];
  const warned = (warning: Error) => warnings.push(warning);
  process.on('warning', warned);
  const app = Fastify({ http2: true });
  await app.register(forFastify, { url: '/hook', ...OPTIONS });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const session = connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
  const stream = session.request({ ':method': 'POST', ':path': '/hook' });
  stream.end('x'.repeat(BODY_BYTES_MAX + 1));
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
  expect(headers).toMatchObject({ ':status': 413 });
  await once(stream.resume(), 'close');
  session.close();
  await app.close();
  process.off('warning', warned);
  expect(warnings).toEqual([]);
});

it('fastify: other routes keep their parsers, and the error of a handler is logged', async () => {
  const app = Fastify();
  const errors: unknown[] = [];
  app.setErrorHandler(async (error, _request, reply) => {
    errors.push(error);
    return reply.code(500).send();
  });
  const failing = new Error('not now');
  await app.register(forFastify, { url: '/hook', secret: SECRET, handle: () => Promise.reject(failing) });
  app.post('/other', async ({ body }) => ({ parsed: body }));
  const other = await app.inject({ method: 'POST', url: '/other', headers: JSON_TYPE, payload: BODY });
  expect(other.json()).toEqual({ parsed: { n: 1 } });
  const headers = { ...signedHeaders({ body: BODY }), ...JSON_TYPE };
  const hook = await app.inject({ method: 'POST', url: '/hook', headers, payload: BODY });
  expect(hook.statusCode).toBe(500);
  expect(errors).toEqual([failing]);
  await app.close();
});

describe.concurrent('fetch', () => {
  const request = () =>
    new Request('https://receiver.example/hook', {
      method: 'POST',
      headers: signedHeaders({ body: BODY }),
      body: BODY,
    });

  it('returns the Response of the handler unchanged', async () => {
    const response = new Response('mine', { status: 201, headers: { 'X-Mine': 'mine' } });
    expect(await forFetch({ secret: SECRET, handle: async () => response })(request())).toBe(response);
  });

  it('passes the error of the handler on to the runtime', async () => {
    const failing = new Error('not now');
    const receive = forFetch({ secret: SECRET, handle: () => Promise.reject(failing) });
    await expect(receive(request())).rejects.toBe(failing);
  });

  it('must be the first to read the body', async () => {
    const read = request();
    await read.text();
    await expect(forFetch(OPTIONS)(read)).rejects.toThrow('must be the first');
  });
});
