/**
 * JSON from outside. One reader serves the service and the SDK, and lives in the SDK, which imports nothing.
 * A long text is read in slices: the thread that reads it also fires, and what is due must not wait for a text.
 */
import { type JsonBounds, JsonBuilder } from '#sdk/json/builder.ts';
import { readJson } from '#sdk/json/read-json.ts';
import { JsonScanner, type JsonSink } from '#sdk/json/scanner.ts';

export type { JsonBounds };
export { readJson };

/** A text that is not longer is read in one go. That takes less time than a slice may, whatever it holds. */
export const SHORT_JSON_MAX = 16_384;
/** The budget of one slice, as a scanner counts it: two milliseconds of work or less. */
export const SLICE_CHARACTERS = 262_144;

/** A pause gives everything else its turn. */
export type YieldToEventLoop = () => Promise<void>;

const NO_SINK: JsonSink = {
  openObject: () => {},
  openArray: () => {},
  close: () => {},
  key: () => {},
  scalar: () => {},
};

export interface BoundedJson {
  readonly value: unknown;
  /** False: bounds kept out a part of the value. */
  readonly isWhole: boolean;
}

/** The value of a JSON text, a long one within bounds. Rejects with a SyntaxError if it is not JSON. */
export async function readJsonInSlices(
  text: string,
  bounds: JsonBounds,
  pause: YieldToEventLoop,
): Promise<BoundedJson> {
  if (text.length <= SHORT_JSON_MAX) return { value: readJson(text), isWhole: true };
  const builder = new JsonBuilder(bounds);
  await scan(text, builder, pause);
  return { value: builder.value, isWhole: builder.isWhole };
}

export function isJsonText(text: string): boolean {
  try {
    // The runtime's fault concerns the keys it gives, not what it accepts.
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export async function isJsonTextInSlices(text: string, pause: YieldToEventLoop): Promise<boolean> {
  if (text.length <= SHORT_JSON_MAX) return isJsonText(text);
  try {
    await scan(text, NO_SINK, pause);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Other work on the same text has often been done in this turn, so a pause comes first. */
async function scan(text: string, sink: JsonSink, pause: YieldToEventLoop): Promise<void> {
  await pause();
  const scanner = new JsonScanner(text, sink);
  while (!scanner.advance(SLICE_CHARACTERS)) await pause();
}
