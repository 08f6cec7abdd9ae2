import { defineConfig, type OxlintOverride } from 'oxlint';

/**
 * The layers of `src/`: what each folder may import besides itself. Imports across folders are written
 * `#src/<layer>/…`, imports inside a folder `./…`; so a layer is visible in the import line, and a
 * wrong one is a lint error.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  ports: ['domain'],
  texts: ['domain'],
  engine: ['domain', 'ports', 'texts'],
  commands: ['domain', 'ports', 'texts'],
  store: ['domain', 'ports'],
  egress: ['domain', 'ports'],
  vault: ['domain', 'ports'],
  system: ['domain', 'ports'],
  web: ['domain', 'ports'],
  api: ['domain', 'ports', 'texts', 'commands', 'web'],
  control: ['domain', 'ports', 'texts', 'commands', 'web', 'api'],
  inbox: ['domain', 'ports', 'web'],
  app: [
    'domain',
    'ports',
    'texts',
    'engine',
    'commands',
    'store',
    'egress',
    'vault',
    'system',
    'web',
    'api',
    'control',
    'inbox',
  ],
  cli: ['domain', 'ports', 'texts', 'control', 'app'],
};

/** Who uses the customer's own tools: they speak to the service as a customer does. */
const MAY_IMPORT_SDK = ['inbox', 'cli'];
/** The reader of JSON is pure, and both need it. The SDK can import nothing, so the rules take it from there. */
const MAY_IMPORT_SDK_JSON = ['domain'];

const LAYERS = Object.keys(MAY_IMPORT);

function forbidden(layer: string): readonly string[] {
  // An empty alternation would match everything: a name that cannot exist stands in for it.
  return [...LAYERS.filter((other) => other !== layer && !MAY_IMPORT[layer]?.includes(other)), '-'];
}

/** Ambient time, randomness and settings enter through ports; only these layers hold the real ones. */
const AMBIENT_LAYERS = ['system', 'app'];
/** A command is called with an environment; it goes by the clock and the timers it is given. */
const ENV_LAYERS = [...AMBIENT_LAYERS, 'cli'];
const AMBIENT_GLOBALS = ['setTimeout', 'setInterval', 'setImmediate'];
const AMBIENT_PROPERTIES = [
  { object: 'Date', property: 'now' },
  { object: 'Math', property: 'random' },
];
const AMBIENT_ENV = { object: 'process', property: 'env' };

function overrideOf(layer: string): OxlintOverride {
  return {
    files: [`src/${layer}/**`],
    excludeFiles: ['**/*.test.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: `^#src/(${forbidden(layer).join('|')})/`,
              message: `src/${layer} may import only: ${[layer, ...(MAY_IMPORT[layer] ?? [])].join(', ')}.`,
            },
            { regex: '^\\.\\./', message: 'Write imports across folders as #src/<layer>/….' },
            { regex: '^#test/', message: 'The product does not import its tests.' },
            ...(MAY_IMPORT_SDK.includes(layer)
              ? []
              : [
                  {
                    regex: MAY_IMPORT_SDK_JSON.includes(layer) ? '^#sdk/(?!json/)' : '^#sdk/',
                    message: `src/${layer} does not use the SDK.`,
                  },
                ]),
          ],
        },
      ],
      ...(AMBIENT_LAYERS.includes(layer)
        ? {}
        : {
            'no-restricted-globals': ['error', ...AMBIENT_GLOBALS],
            'no-restricted-properties': [
              'error',
              ...AMBIENT_PROPERTIES,
              ...(ENV_LAYERS.includes(layer) ? [] : [AMBIENT_ENV]),
            ],
          }),
    },
  };
}

export default defineConfig({
  // These files import clients that a test generates. They have no types in a fresh checkout.
  ignorePatterns: ['test/clients/project/**'],
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise'],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  rules: {
    // A circle of types alone is an error too: what two files share belongs in a third.
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-unassigned-import': 'off',
    'no-await-in-loop': 'off',
    'oxc/no-map-spread': 'off',
    'no-shadow': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/require-post-message-target-origin': 'off',
    'typescript/consistent-return': 'off',
    'typescript/no-unnecessary-type-arguments': 'off',
    // Rows, messages between threads and branded values are cast where they enter; review keeps it there.
    'typescript/no-unsafe-type-assertion': 'off',
    'typescript/no-unnecessary-type-parameters': 'off',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
  },
  overrides: [
    ...LAYERS.map(overrideOf),
    {
      // For any runtime that has fetch and WebCrypto: nothing of Node's, nothing of the service's.
      files: ['sdk/src/**'],
      excludeFiles: ['**/*.test.ts'],
      rules: {
        'no-restricted-imports': [
          'error',
          { patterns: [{ regex: '^[^.]', message: 'The SDK imports nothing but its own files.' }] },
        ],
        'no-restricted-globals': ['error', 'process', 'Buffer', 'require', 'setImmediate'],
      },
    },
  ],
});
