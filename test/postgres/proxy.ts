/**
 * A way to PostgreSQL that can fail: a proxy on loopback, without TLS.
 *
 *     await using proxy = await startProxy(server.port);
 *     proxy.interfere((sql) => (sql === 'COMMIT' ? 'lose the answer' : 'pass'));
 *     const client = new Client({ connectionString: proxy.through(server.url()) });
 *
 * When an answer is lost, the server gets the statement and then the end of the connection: it carries out all
 * that it got before it sees the end. The client hears nothing more, and that the connection is gone only when
 * the server has gone too. So the statement has been carried out for certain, and the client cannot know.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { FrontendReader } from './frontend-messages.ts';

/**
 * `pass`; `lose the answer`: it is carried out, and nobody is told; `lose it`: it never arrives, and the
 * connection is cut; `stall it`: nothing more arrives from its connection, until
 * all of them go on.
 */
export type Verdict = 'pass' | 'lose the answer' | 'lose it' | 'stall it';

export interface PostgresProxy extends AsyncDisposable {
  readonly port: number;
  /** The same database, by this way. */
  through(url: string): string;
  /** Connections that are there now. */
  readonly open: number;
  /** Connections that there have been. */
  readonly accepted: number;
  /** Statements that did not simply pass. */
  readonly lost: number;
  /** Resets every connection. */
  cut(): void;
  /** Refuses new connections, those that are there stay; or takes them again. */
  refuse(): void;
  accept(): Promise<void>;
  /** No byte goes through, in any direction, and nobody is told; or those that waited go on. */
  stall(): void;
  resume(): void;
  /** Every byte takes so much longer, each way. */
  delay(ms: number): void;
  /** Asked for every statement that a client runs. */
  interfere(judge: (sql: string) => Verdict): void;
}

const HOST = '127.0.0.1';

export async function startProxy(serverPort: number): Promise<PostgresProxy> {
  const connections = new Set<Connection>();
  const way: Way = { delayMs: 0, isStalled: false, judge: () => 'pass', lost: 0 };
  let accepted = 0;
  let listener: Server | undefined;

  const listen = async (port: number): Promise<Server> => {
    const server = createServer((client) => {
      accepted += 1;
      const connection = new Connection(client, connect(serverPort, HOST), way);
      connections.add(connection);
      client.once('close', () => connections.delete(connection));
    });
    server.listen(port, HOST);
    await once(server, 'listening');
    return server;
  };
  listener = await listen(0);
  const { port } = listener.address() as AddressInfo;
  const refuse = () => {
    listener?.close();
    listener = undefined;
  };
  const cut = () => {
    for (const connection of connections) connection.cut();
  };

  return {
    port,
    through: (url) => {
      const other = new URL(url);
      other.host = `${HOST}:${port}`;
      return other.href;
    },
    get open() {
      return connections.size;
    },
    get accepted() {
      return accepted;
    },
    get lost() {
      return way.lost;
    },
    cut,
    refuse,
    accept: async () => {
      listener ??= await listen(port);
    },
    stall: () => {
      way.isStalled = true;
      for (const connection of connections) connection.stall();
    },
    resume: () => {
      way.isStalled = false;
      for (const connection of connections) connection.resume();
    },
    delay: (ms) => {
      way.delayMs = ms;
    },
    interfere: (judge) => {
      way.judge = judge;
    },
    [Symbol.asyncDispose]: async () => {
      refuse();
      cut();
    },
  };
}

/** What all connections go by. */
interface Way {
  delayMs: number;
  isStalled: boolean;
  judge: (sql: string) => Verdict;
  lost: number;
}

class Connection {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #way: Way;
  readonly #reader = new FrontendReader();
  /** Set while the rest of a batch goes to the server whose answer nobody is to hear. */
  #isLosing = false;
  #isLost = false;
  /** Messages that wait for the connection to go on. */
  #held: Buffer[] = [];

  constructor(client: Socket, server: Socket, way: Way) {
    this.#client = client;
    this.#server = server;
    this.#way = way;
    const toServer = lane(way, (bytes) => this.#forward(bytes));
    const toClient = lane(way, (bytes) => {
      if (!this.#isLost) client.write(bytes);
    });
    for (const socket of [client, server]) socket.setNoDelay(true).on('error', () => undefined);
    client.on('data', toServer).once('close', () => {
      if (!this.#isLost) server.destroy();
    });
    server.on('data', toClient).once('close', () => {
      if (this.#isLost) client.resetAndDestroy();
      else client.end();
    });
    if (way.isStalled) this.stall();
  }

  cut(): void {
    this.#client.resetAndDestroy();
    this.#server.destroy();
  }

  stall(): void {
    this.#client.pause();
    this.#server.pause();
  }

  resume(): void {
    if (this.#held.length > 0) this.#server.write(Buffer.concat(this.#held.splice(0)));
    this.#client.resume();
    this.#server.resume();
  }

  #forward(chunk: Buffer): void {
    const passing: Buffer[] = [];
    for (const { bytes, sql, endsBatch } of this.#reader.read(chunk)) {
      if (this.#isLost) return;
      if (this.#held.length > 0) {
        this.#held.push(bytes);
        continue;
      }
      const verdict = sql === undefined || this.#isLosing ? 'pass' : this.#way.judge(sql);
      if (verdict !== 'pass') this.#way.lost += 1;
      if (verdict === 'lose it') {
        this.cut();
        return;
      }
      if (verdict === 'stall it') {
        this.#held.push(bytes);
        this.#client.pause();
        continue;
      }
      passing.push(bytes);
      this.#isLosing ||= verdict === 'lose the answer';
      if (this.#isLosing && endsBatch) {
        this.#isLost = true;
        this.#server.end(Buffer.concat(passing));
        return;
      }
    }
    this.#server.write(Buffer.concat(passing));
  }
}

/** Hands on each chunk after the delay that is set when it comes, in their order. */
function lane(way: Way, handOn: (bytes: Buffer) => void): (bytes: Buffer) => void {
  const waiting: Buffer[] = [];
  return (bytes) => {
    if (way.delayMs === 0 && waiting.length === 0) {
      handOn(bytes);
      return;
    }
    waiting.push(bytes);
    setTimeout(() => {
      const next = waiting.shift();
      if (next !== undefined) handOn(next);
    }, way.delayMs);
  };
}
