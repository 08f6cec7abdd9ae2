/** A name server on loopback that gives scripted answers. It speaks the minimum of DNS (RFC 1035). */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { parseAddress } from '#src/domain/public-address.ts';

export type RecordType = 'A' | 'AAAA';

/** A list of addresses, an error code, or no answer. */
export type NameAnswer = readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | 'silence';

const HEADER_BYTES = 12;
const TYPES: Readonly<Record<number, RecordType>> = { 1: 'A', 28: 'AAAA' };
const RCODES: Readonly<Record<string, number>> = { SERVFAIL: 2, NXDOMAIN: 3 };
const TTL_SECONDS = 3_600;

export interface NameServer {
  /** `address:port` */
  readonly address: string;
  readonly asked: readonly string[];
}

export async function nameServer(
  answer: (name: string, type: RecordType) => NameAnswer,
): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = question(query);
    asked.push(`${name} ${type}`);
    const scripted = answer(name, type);
    if (scripted !== 'silence') socket.send(reply(query.subarray(0, end), scripted), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, asked };
}

function question(query: Buffer): { readonly name: string; readonly type: RecordType; readonly end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = TYPES[query.readUInt16BE(at + 1)];
  if (type === undefined) throw new Error('The test name server answers only queries for A and AAAA.');
  return { name: labels.join('.').toLowerCase(), type, end: at + 5 };
}

function reply(query: Buffer, answer: Exclude<NameAnswer, 'silence'>): Buffer {
  const addresses = typeof answer === 'string' ? [] : answer;
  const head = Buffer.from(query);
  head.writeUInt16BE(0x8180 | (typeof answer === 'string' ? (RCODES[answer] ?? 0) : 0), 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  return Buffer.concat([head, ...addresses.map(record)]);
}

function record(text: string): Buffer {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`Not an address: ${text}.`);
  const fixed = Buffer.alloc(HEADER_BYTES);
  fixed.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  fixed.writeUInt16BE(address.family === 'ipv4' ? 1 : 28, 2);
  fixed.writeUInt16BE(1, 4);
  fixed.writeUInt32BE(TTL_SECONDS, 6);
  fixed.writeUInt16BE(address.bytes.length, 10);
  return Buffer.concat([fixed, Buffer.from(address.bytes)]);
}
