/**
 * Decodes the messages of a PostgreSQL client, as far as needed to know which statements it runs. The first messages
 * of a connection have a length and a code; all later ones begin with a letter. A statement runs by Query with its
 * text, or by Execute of a portal. Bind creates a portal from a statement, and Parse a statement from a text.
 */
export interface FrontendMessage {
  readonly bytes: Buffer;
  /** The text of the statement that the message runs, if any. */
  readonly sql: string | undefined;
  /** Whether the server answers now and, outside of a transaction, commits. */
  readonly endsBatch: boolean;
}

const LENGTH_BYTES = 4;
const TYPE_BYTES = 1;
/** Major version 3: later messages have letters. Other codes request TLS or cancel a query. */
const PROTOCOL_3 = 3;

export class FrontendReader {
  #pending: Buffer = Buffer.alloc(0);
  #isStarted = false;
  readonly #statements = new Map<string, string>();
  readonly #portals = new Map<string, string>();

  /** Returns the messages that are complete. */
  read(chunk: Buffer): readonly FrontendMessage[] {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    const messages: FrontendMessage[] = [];
    for (let bytes = this.#take(); bytes !== undefined; bytes = this.#take()) {
      messages.push(this.#isStarted ? this.#understood(bytes) : this.#start(bytes));
    }
    return messages;
  }

  #take(): Buffer | undefined {
    const typeBytes = this.#isStarted ? TYPE_BYTES : 0;
    if (this.#pending.length < typeBytes + LENGTH_BYTES) return undefined;
    const end = typeBytes + this.#pending.readUInt32BE(typeBytes);
    if (this.#pending.length < end) return undefined;
    const bytes = this.#pending.subarray(0, end);
    this.#pending = this.#pending.subarray(end);
    return bytes;
  }

  #start(bytes: Buffer): FrontendMessage {
    this.#isStarted = bytes.readUInt16BE(LENGTH_BYTES) === PROTOCOL_3;
    return { bytes, sql: undefined, endsBatch: false };
  }

  #understood(bytes: Buffer): FrontendMessage {
    const type = String.fromCharCode(bytes.readUInt8(0));
    const [first = '', second = ''] = bytes.toString('utf8', TYPE_BYTES + LENGTH_BYTES).split('\0', 2);
    if (type === 'P') this.#statements.set(first, second);
    if (type === 'B') this.#portals.set(first, this.#statements.get(second) ?? '');
    const sql = type === 'Q' ? first : type === 'E' ? this.#portals.get(first) : undefined;
    return { bytes, sql, endsBatch: type === 'Q' || type === 'S' };
  }
}
