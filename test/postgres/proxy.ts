/**
 * A proxy on loopback, without TLS, that can fail the connection to PostgreSQL.
 *
 *       await using proxy = await startProxy(server.port);
 *       proxy.interfere((sql) => (sql === 'COMMIT' ? 'lose the answer' : 'pass'));
 *       const client = new Client({ connectionString: proxy.through(server.url()) });
 *
 * To lose an answer, the proxy sends the statement to the server and then closes that side. The server runs
 * everything that it has received before it sees the end. The client gets no more bytes, and loses its connection
 * only after the server has closed. The statement has then taken effect for certain, and the client cannot know.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { FrontendReader } from './frontend-messages.ts';

/**
 * `lose the answer`: the statement takes effect, but the client gets no answer. `lose it`: the statement never arrives,
 * and the connection is reset. `stall it`: nothing more arrives from this connection until `resume`.
 */
export type Verdict = 'pass' | 'lose the answer' | 'lose it' | 'stall it';

export interface PostgresProxy extends AsyncDisposable {
  readonly port: number;
  /** The URL of the same database through the proxy. */
  through(url: string): string;
  /** The number of open connections. */
  readonly open: number;
  /** The number of connections so far. */
  readonly accepted: number;
  /** The number of statements that did not pass. */
  readonly lost: number;
  /** Resets every connection. */
  cut(): void;
  /** `refuse` refuses new connections and keeps the open ones; `accept` accepts new ones again. */
  refuse(): void;
  accept(): Promise<void>;
  /** `stall` holds all bytes in both directions without closing; `resume` sends them on. */
  stall(): void;
  resume(): void;
  /** Delays every byte, in both directions. */
  delay(ms: number): void;
  /** `judge` is called for every statement that a client runs. */
  interfere(judge: (sql: string) => Verdict): void;
}

const HOST = '127.0.0.1';

export async function startProxy(serverPort: number): Promise<PostgresProxy> {
  const connections = new Set<Connection>();
  const state: ProxyState = { delayMs: 0, isStalled: false, judge: () => 'pass', lost: 0 };
  let accepted = 0;
  let listener: Server | undefined;

  const listen = async (port: number): Promise<Server> => {
    const server = createServer((client) => {
      accepted += 1;
      const connection = new Connection(client, connect(serverPort, HOST), state);
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
      return state.lost;
    },
    cut,
    refuse,
    accept: async () => {
      listener ??= await listen(port);
    },
    stall: () => {
      state.isStalled = true;
      for (const connection of connections) connection.stall();
    },
    resume: () => {
      state.isStalled = false;
      for (const connection of connections) connection.resume();
    },
    delay: (ms) => {
      state.delayMs = ms;
    },
    interfere: (judge) => {
      state.judge = judge;
    },
    [Symbol.asyncDispose]: async () => {
      refuse();
      cut();
    },
  };
}

/** The state that all connections share. */
interface ProxyState {
  delayMs: number;
  isStalled: boolean;
  judge: (sql: string) => Verdict;
  lost: number;
}

class Connection {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #state: ProxyState;
  readonly #reader = new FrontendReader();
  /** Set while the rest of a batch is sent whose answer will be lost. */
  #isLosing = false;
  #isLost = false;
  /** Messages that wait for `resume`. */
  #held: Buffer[] = [];

  constructor(client: Socket, server: Socket, state: ProxyState) {
    this.#client = client;
    this.#server = server;
    this.#state = state;
    const toServer = delayed(state, (bytes) => this.#forward(bytes));
    const toClient = delayed(state, (bytes) => {
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
    if (state.isStalled) this.stall();
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
      const verdict = sql === undefined || this.#isLosing ? 'pass' : this.#state.judge(sql);
      if (verdict !== 'pass') this.#state.lost += 1;
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

/** Sends each chunk on after the delay at its arrival, in order. */
function delayed(state: ProxyState, send: (bytes: Buffer) => void): (bytes: Buffer) => void {
  const waiting: Buffer[] = [];
  return (bytes) => {
    if (state.delayMs === 0 && waiting.length === 0) {
      send(bytes);
      return;
    }
    waiting.push(bytes);
    setTimeout(() => {
      const next = waiting.shift();
      if (next !== undefined) send(next);
    }, state.delayMs);
  };
}
