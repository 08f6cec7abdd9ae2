/** The client of the SDK with the real service, on both stores. */
import { describe } from 'vitest';
import { useSched } from '#test/e2e/harness.ts';
import { aborts } from './client-aborts.ts';
import { errors } from './client-errors.ts';
import { inputs } from './client-inputs.ts';
import { lists } from './client-lists.ts';
import { names } from './client-names.ts';
import { operations } from './client-operations.ts';
import { retries } from './client-retries.ts';

const service = useSched();

describe('every operation', () => operations(service));
describe('inputs', () => inputs(service));
describe('lists', () => lists(service));
describe('errors', () => errors(service));
describe('names', () => names(service));
describe('retries', () => retries(service));
describe('aborts', () => aborts(service));
