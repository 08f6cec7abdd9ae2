import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  bound,
  choice,
  cursor,
  firstOfEach,
  idOf,
  limit,
  optionalText,
  optionalTexts,
  readInput,
  readParams,
  text,
} from './fields.ts';

const ALL = z.object({
  name: text.optional(),
  overlap: optionalText,
  projects: optionalTexts,
  state: choice(['active', 'paused']),
  from: bound('down'),
  cursor,
  limit,
});
const NOTHING_GIVEN = { projects: null, state: null, from: null, cursor: null, limit: 20 };

test('an empty or missing value of a query is absent, and unknown names are ignored', () => {
  expect(readInput(ALL, { state: '', from: '', cursor: '', unknown: 'x' })).toEqual(NOTHING_GIVEN);
  expect(readInput(ALL, {})).toEqual(NOTHING_GIVEN);
});

test.each<[given: object, param: string, message: string]>([
  [{ name: 'x'.repeat(1_025) }, 'name', 'name must be a string of at most 1024 characters.'],
  [{ overlap: 5 }, 'overlap', 'overlap must be a string of at most 1024 characters.'],
  [{ projects: 'shop' }, 'projects', 'projects must be a list of at most 1000 strings, or null.'],
  [{ projects: ['shop', 1] }, 'projects', 'projects must be a list of at most 1000 strings, or null.'],
  [
    { projects: ['x'.repeat(1_025)] },
    'projects',
    'projects must be a list of at most 1000 strings, or null.',
  ],
  [
    { projects: Array.from({ length: 1_001 }, () => '') },
    'projects',
    'projects must be a list of at most 1000 strings, or null.',
  ],
  [{ state: 'pausd' }, 'state', 'state must be active or paused, not "pausd". Did you mean paused?'],
  [{ state: 1 }, 'state', 'state must be a string, not the number 1.'],
  [{ from: 'soon' }, 'from', 'from "soon" is not an RFC 3339 instant such as "2026-11-15T09:00:00Z".'],
  [{ name: 1, projects: 1 }, 'name', 'name must be a string of at most 1024 characters.'],
])('a wrong value is refused with the name of its field (case %#)', (given, param, message) => {
  const refused = expect.objectContaining({ code: 'invalid_request', param, message });
  expect(() => readInput(ALL, given as Record<string, unknown>)).toThrow(refused);
});

test('a wrong value of a path names nothing', () => {
  const schema = z.object({ id: idOf('sch') });
  expect(readParams(schema, { id: 'sch_01m7f3gs00zqgw5m2r7n9x0abc' })).toEqual({
    id: 'sch_01m7f3gs00zqgw5m2r7n9x0abc',
  });
  for (const given of [{}, { id: '' }, { id: 'sch_1' }, { id: 'ep_01m7f3gs00zqgw5m2r7n9x0abc' }])
    expect(() => readParams(schema, given)).toThrow(expect.objectContaining({ code: 'not_found' }));
});

test('the first of repeated names counts, even if it is empty', () => {
  expect(firstOfEach(new URLSearchParams('a=1&a=2&b=&b=3'))).toEqual({ a: '1', b: '' });
});
