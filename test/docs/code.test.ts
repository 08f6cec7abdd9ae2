/** Code blocks that are not commands: each names its language and is valid in it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { openApiDocument } from '#src/api/contract/openapi.ts';
import { ReferenceDocument } from '#src/api/reference/document.ts';
import { receiverSample, samplesOf } from '#src/api/reference/samples.ts';
import { type Block, PAGES, ROOT } from './pages.ts';
import { readersProject, SDK_SOURCES, write } from './project.ts';

const BLOCKS = PAGES.flatMap(({ blocks }) => blocks);
/** The languages whose blocks are run or checked, and those that are only shown. */
const LANGUAGES = new Set('sh ts json yaml text sql js python go ruby php java'.split(' '));

function of(language: string): readonly Block[] {
  return BLOCKS.filter((block) => block.language === language);
}

describe('code blocks', () => {
  test('name a known language', () => {
    const others = BLOCKS.filter(({ language }) => !LANGUAGES.has(language));
    expect(others.map(({ place, language }) => `${place}: ${language}`)).toEqual([]);
    expect(BLOCKS.length).toBeGreaterThan(20);
  });

  test('of JSON are valid', () => {
    for (const { text, place } of of('json')) expect(() => JSON.parse(text) as unknown, place).not.toThrow();
  });

  test('of YAML are valid', () => {
    const errors = of('yaml').flatMap(({ text, place }) =>
      parseAllDocuments(text).flatMap((document) =>
        document.errors.map(({ message }) => `${place}: ${message}`),
      ),
    );
    expect(errors).toEqual([]);
  });

  test('of TypeScript that use the SDK match its types, and so do the samples of the reference', () => {
    const examples = of('ts').filter(({ text }) => USES_SDK.test(text));
    const samples = referenceSamples();
    expect(Math.min(examples.length, samples.length)).toBeGreaterThan(5);
    expect(typeErrorsIn([...examples, ...samples])).toEqual([]);
  });

  test('with a wrong type are found', () => {
    const text = "import { Sched } from '@sched/sdk';\nnew Sched({ url: 1, apiKey: '' });";
    const errors = typeErrorsIn([{ place: 'here', line: 1, language: 'ts', mark: '', text }]);
    expect(errors.join()).toContain('not assignable');
  });
});

/** The TypeScript samples of `/docs`. */
function referenceSamples(): readonly Block[] {
  const document = new ReferenceDocument(openApiDocument());
  const samples = document.operations.flatMap((operation) => {
    const examples = operation.body === null ? [] : document.examplesOf(operation.body);
    const bodies = examples.length === 0 ? [undefined] : examples.map(({ value }) => value);
    return bodies.flatMap((body, at) =>
      samplesOf(document, operation, body)
        .filter(({ language }) => language === 'typescript')
        .map(({ code }) => ({ name: `${operation.id}-${at}`, code })),
    );
  });
  return [...samples, ...document.webhooks.map(({ id }) => ({ name: id, code: receiverSample(id) }))].map(
    ({ name, code }) => ({
      place: `docs-page-${name}`,
      line: 1,
      language: 'ts',
      mark: '',
      text: code,
    }),
  );
}

const USES_SDK = /@sched\/sdk|DeduplicationStore/;

/** Declarations that an excerpt relies on, by a text that it contains. */
const SURROUNDINGS: readonly (readonly [RegExp, string])[] = [
  [/\brequest\b/, 'declare const request: Request;'],
  [/\bsecret\b/, 'declare const secret: string;'],
  [/\bremind\(/, 'declare function remind(order: unknown): Promise<void>;'],
  [/[{ ]handle\b(?!:)/, "declare const handle: import('@sched/sdk/receiver').ReceiverOptions['handle'];"],
  [/sdk\/express/, "declare const app: import('express').Express;"],
  [/sdk\/fastify/, "declare const app: import('fastify').FastifyInstance;"],
  [/sdk\/hono/, "declare const app: import('hono').Hono;"],
  [/\bDeduplicationStore\b/, "import type { DeduplicationStore } from '@sched/sdk/receiver';"],
  [/\bpool\./, "declare const pool: import('pg').Pool;"],
  [
    /\bredis\./,
    'declare const redis: Record<"get" | "set" | "del", (...words: unknown[]) => Promise<unknown>>;',
  ],
];

function moduleOf(text: string): string {
  const atTop = /^(import|declare) [^;]+;$/gm;
  const imports = text.match(atTop) ?? [];
  const rest = text.replaceAll(atTop, '');
  const declared = (name: string) => new RegExp(`(const|function) ${name}\\b`).test(rest);
  const taken = SURROUNDINGS.filter(([about, line]) => {
    const [, name] = /^declare (?:const|function) (\w+)/.exec(line) ?? [];
    return about.test(text) && !(name !== undefined && declared(name));
  }).map(([, line]) => line);
  // An excerpt may end with `return`, so it is put into a function. Exports stay at the top level.
  const body = /^export /m.test(rest) ? rest : `export async function example() {\n${rest}\n}`;
  return [...imports, ...taken, body].join('\n');
}

function typeErrorsIn(examples: readonly Block[]): readonly string[] {
  const folder = readersProject();
  for (const { place, text } of examples) {
    write(join(folder, `${place.replaceAll(/[/:.]/g, '-')}.ts`), moduleOf(text));
  }
  const compilerOptions = {
    target: 'ES2024',
    lib: ['ES2024', 'DOM', 'DOM.AsyncIterable', 'DOM.Iterable'],
    module: 'NodeNext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    paths: Object.fromEntries(Object.entries(SDK_SOURCES).map(([name, source]) => [name, [source]])),
  };
  write(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['--project', folder], {
    encoding: 'utf8',
  });
  return stdout.split('\n').filter((line) => line !== '');
}
