/**
 * A proxy between nodes and PostgreSQL that counts. A round trip begins when a client sends after the server has
 * answered. What a client sends before the next answer belongs to the same round trip.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Traffic {
  readonly statements: number;
  readonly roundTrips: number;
  /** In both directions. */
  readonly bytes: number;
}

export interface CountingProxy extends AsyncDisposable {
  /** The URL of the database, through the proxy. */
  readonly url: string;
  traffic(): Traffic;
}

const HOST = '127.0.0.1';
const POSTGRES_PORT = 5_432;
const LENGTH_BYTES = 4;
/** Messages of the protocol that carry out a statement: Execute and Query. */
const EXECUTE = 0x45;
const QUERY = 0x51;

export async function startCountingProxy(databaseUrl: string): Promise<CountingProxy> {
  const target = new URL(databaseUrl);
  let statements = 0;
  let roundTrips = 0;
  let bytes = 0;
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const database = connect({
      host: target.hostname,
      port: Number(target.port || POSTGRES_PORT),
      noDelay: true,
    });
    const messages = new MessageReader();
    let isAnswered = true;
    client.on('data', (part: Buffer) => {
      bytes += part.length;
      statements += messages.statementsIn(part);
      if (isAnswered) roundTrips++;
      isAnswered = false;
    });
    database.on('data', (part: Buffer) => {
      bytes += part.length;
      isAnswered = true;
    });
    client.pipe(database).pipe(client);
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        database.destroy();
      });
    }
  });
  server.listen(0, HOST);
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.host = `${HOST}:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    traffic: () => ({ statements, roundTrips, bytes }),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Reads the kinds of a client's messages. Their contents are skipped. A message may come in several parts. */
class MessageReader {
  /** The first message has a length and no kind. */
  #isFirst = true;
  /** The header of the next message, as far as it has arrived. */
  #header: number[] = [];
  #skip = 0;

  statementsIn(part: Buffer): number {
    let found = 0;
    let at = 0;
    while (at < part.length) {
      const skipped = Math.min(this.#skip, part.length - at);
      this.#skip -= skipped;
      at += skipped;
      const byte = part[at];
      if (byte === undefined) break;
      this.#header.push(byte);
      at++;
      found += this.#endOfHeader();
    }
    return found;
  }

  #endOfHeader(): number {
    const kindBytes = this.#isFirst ? 0 : 1;
    if (this.#header.length < kindBytes + LENGTH_BYTES) return 0;
    const length = this.#header.slice(kindBytes).reduce((number, byte) => number * 256 + byte, 0);
    const kind = this.#isFirst ? undefined : this.#header[0];
    this.#skip = length - LENGTH_BYTES;
    this.#header = [];
    this.#isFirst = false;
    return kind === EXECUTE || kind === QUERY ? 1 : 0;
  }
}
