import { Refusal } from '#src/domain/errors.ts';
import { readJson } from '#src/domain/json.ts';
import { ANSWERS, type Choice, TIMES_MAX } from './answering.ts';

/** The body of a request, as the server hands it over. */
export function readChoice(body: unknown): Choice {
  const given = Buffer.isBuffer(body) ? parse(body.toString()) : null;
  if (typeof given !== 'object' || given === null) throw new Refusal('invalid_json');
  const { answer: text, times = null } = given as { readonly answer?: unknown; readonly times?: unknown };
  const answer = ANSWERS.find((each) => each === text);
  if (answer === undefined) throw wrong('answer', `answer must be one of ${ANSWERS.join(', ')}.`);
  if (times !== null && !isCount(times))
    throw wrong('times', `times must be null, or from 1 to ${TIMES_MAX}.`);
  return { answer, times };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= TIMES_MAX;
}

function parse(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return null;
  }
}

function wrong(param: string, message: string): Refusal {
  return new Refusal('invalid_request', param, message);
}
