/**
 * Encodes a long answer in pieces with pauses, because the same thread also sends deliveries. It is sent in
 * pieces too, which shows whether the client reads any of it (`send-timeout.ts`).
 */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { YieldToEventLoop } from '#src/domain/json.ts';

/** Encoding a piece takes a millisecond or two, with any characters. */
const PIECE_CHARACTERS = 262_144;
/** A client that reads this much in half a minute is not disconnected. */
const SENT_BYTES = 65_536;
const SURROGATE_FIRST = 0xd800;
const SURROGATE_SECOND = 0xdc00;

export function isLongAnswer(body: string): boolean {
  return body.length > PIECE_CHARACTERS;
}

export async function sendLong(reply: FastifyReply, body: string, pause: YieldToEventLoop): Promise<void> {
  const pieces = await bytesOf(body, pause);
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  reply.header('content-length', bytes).send(Readable.from(sentPieces(pieces), { objectMode: false }));
}

function* sentPieces(pieces: readonly Buffer[]): Generator<Buffer> {
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += SENT_BYTES) yield piece.subarray(from, from + SENT_BYTES);
  }
}

/** Encodes the body as UTF-8. It pauses first, because building the body took time already. */
export async function bytesOf(body: string, pause: YieldToEventLoop): Promise<readonly Buffer[]> {
  const pieces: Buffer[] = [];
  for (let from = 0; from < body.length; ) {
    await pause();
    const until = pieceEnd(body, from + PIECE_CHARACTERS);
    pieces.push(Buffer.from(body.slice(from, until)));
    from = until;
  }
  return pieces;
}

/** A surrogate pair is not split over two pieces. */
function pieceEnd(body: string, end: number): number {
  const last = body.charCodeAt(end - 1);
  return last >= SURROGATE_FIRST && last < SURROGATE_SECOND ? end - 1 : end;
}
