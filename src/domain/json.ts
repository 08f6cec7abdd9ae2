/**
 * Reads JSON from outside. The service and the SDK share one reader. It is part of the SDK, because the SDK imports
 * nothing. A long text is read in slices, because the same thread sends deliveries, which must not wait for it.
 */
import { type JsonBounds, JsonBuilder } from '#sdk/json/builder.ts';
import { readJson } from '#sdk/json/read-json.ts';
import { JsonScanner, type JsonSink } from '#sdk/json/scanner.ts';

export type { JsonBounds };
export { readJson };

/** A text of this length or less is read at once. That never takes longer than a slice may take. */
export const SHORT_JSON_MAX = 16_384;
/** The budget of one slice, in units of the scanner. It is two milliseconds of work or less. */
export const SLICE_CHARACTERS = 262_144;

/** Lets the other work of the event loop run. */
export type YieldToEventLoop = () => Promise<void>;

const NO_SINK: JsonSink = {
  openObject: () => {},
  openArray: () => {},
  close: () => {},
  key: () => {},
  scalar: () => {},
};

/** The text is not JSON from this position on. */
export class JsonSyntaxError extends SyntaxError {
  readonly position: number;

  constructor(position: number) {
    super(`not JSON at position ${position}`);
    this.position = position;
  }
}

export interface BoundedJson {
  readonly value: unknown;
  /** False when the bounds cut off a part of the value. */
  readonly isWhole: boolean;
}

/**
 * Reads the value of a JSON text. A long text is read within bounds. Rejects with a SyntaxError when the text is not
 * JSON: with a JsonSyntaxError if the text is long.
 */
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
    // The known bug of `JSON.parse` changes keys. It does not change which texts are accepted.
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A short text is checked without a promise, which would cost more than the check. */
export function isJsonTextInSlices(text: string, pause: YieldToEventLoop): boolean | Promise<boolean> {
  return text.length <= SHORT_JSON_MAX ? isJsonText(text) : isLongJsonText(text, pause);
}

async function isLongJsonText(text: string, pause: YieldToEventLoop): Promise<boolean> {
  try {
    await scan(text, NO_SINK, pause);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Yields first, because other work on the same text was often done just before. */
async function scan(text: string, sink: JsonSink, pause: YieldToEventLoop): Promise<void> {
  await pause();
  const scanner = new JsonScanner(text, sink);
  try {
    while (!scanner.advance(SLICE_CHARACTERS)) await pause();
  } catch (error) {
    throw error instanceof SyntaxError ? new JsonSyntaxError(scanner.position) : error;
  }
}

/** Returns the position from which a short text is not JSON. The runtime does not name it for every text. */
export function firstFaultIn(text: string): number {
  const scanner = new JsonScanner(text, NO_SINK);
  try {
    scanner.advance(Number.POSITIVE_INFINITY);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return scanner.position;
}
