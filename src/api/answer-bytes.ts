/** A long answer becomes bytes in pieces, with pauses: the thread that encodes it also fires. */
import type { Pause } from '#src/domain/json.ts';

/** Encoding a piece takes a millisecond or two, whatever characters it has. */
const PIECE_CHARACTERS = 262_144;
const SURROGATE_FIRST = 0xd800;
const SURROGATE_SECOND = 0xdc00;

export function isLongAnswer(body: string): boolean {
  return body.length > PIECE_CHARACTERS;
}

/** The body in UTF-8. The first pause comes first: what made the body has had its turn. */
export async function bytesOf(body: string, pause: Pause): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let from = 0; from < body.length; ) {
    await pause();
    const until = pieceEnd(body, from + PIECE_CHARACTERS);
    pieces.push(Buffer.from(body.slice(from, until)));
    from = until;
  }
  return Buffer.concat(pieces);
}

/** A character that is written as two stays in one piece. */
function pieceEnd(body: string, end: number): number {
  const last = body.charCodeAt(end - 1);
  return last >= SURROGATE_FIRST && last < SURROGATE_SECOND ? end - 1 : end;
}
