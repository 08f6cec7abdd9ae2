/** Large answers: a client that requests very many and reads none cannot exhaust the memory of the service. */
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { startSched } from '#test/process/sched-process.ts';
import { expectStatus } from './expectations.ts';
import { TEST_KEY, useSched } from './harness.ts';
import { type List, ONE_SHOT, type Schedule } from './resources.ts';

const { api, anonymous, url, addProject } = useSched(startSched);

const LABEL_CHARACTERS = 900_000;
const ASKED = 600;
/** Memory is measured while the pages are made. */
const MEMORY_READS = 50;
const LOOK_MS = 100;
/** The memory that a node should have (docs/operations.md). */
const MEMORY_BYTES_MAX = 1_000_000_000;

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Sends a request and does not read the answer. */
async function requestUnread(path: string): Promise<void> {
  const { hostname, port } = new URL(url());
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.on('error', () => {});
  socket.pause();
  const request = `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TEST_KEY}\r\n\r\n`;
  await new Promise<void>((resolve) => socket.write(request, () => resolve()));
}

async function memoryBytes(): Promise<number> {
  const { text } = await anonymous.get('/metrics');
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
}

it('with 600 large pages that no client reads, memory stays bounded and ordinary calls are answered', async () => {
  const other = (await addProject('other')).test;
  for (let n = 0; n < 3; n++) {
    const metadata = { note: 'x'.repeat(LABEL_CHARACTERS) };
    expectStatus(await api.post('/v1/schedules', { ...ONE_SHOT, metadata }), 201);
  }
  expectStatus(await other.post('/v1/schedules', ONE_SHOT), 201);
  await Promise.all(Array.from({ length: ASKED }, () => requestUnread('/v1/schedules')));
  const seen: number[] = [];
  for (let n = 0; n < MEMORY_READS; n++) {
    const { data } = expectStatus(await other.get<List<Schedule>>('/v1/schedules'), 200);
    expect(data).toHaveLength(1);
    seen.push(await memoryBytes());
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  expect(Math.max(...seen)).toBeLessThan(MEMORY_BYTES_MAX);
});
