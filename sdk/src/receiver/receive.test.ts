/** Mistakes in the options of a receiver. The adapters are tested with real servers in test/sdk. */
import { expect, it } from 'vitest';
import { MemoryStore } from './deduplication.ts';
import { DeliveryReceiver, type ReceiverOptions } from './receive.ts';

const SECRET = 'whsec_0123456789abcdef';
const handle = () => undefined;

it.each<readonly [unknown, string]>([
  [undefined, 'A receiver takes an object with options, such as { secret, handle }. It got undefined.'],
  [SECRET, 'A receiver takes an object with options, such as { secret, handle }. It got a text.'],
  [{ secret: SECRET }, 'handle must be a function that does the work. It got undefined.'],
  [{ handle }, 'There is no signing secret. The setting that it comes from is empty or unset.'],
  [{ handle, secret: 5 }, 'The signing secret must be a text, or a list of texts. It got a number.'],
  [
    { handle, secret: SECRET, deduplicate: new Map() },
    'deduplicate must be a store with begin, done and forget, such as new MemoryStore().',
  ],
  [{ handle, secret: SECRET, deduplicate: true }, 'deduplicate must be a store with begin, done and forget'],
])('%o is refused', (options, message) => {
  const attempt = () => new DeliveryReceiver(options as ReceiverOptions);
  expect(attempt).toThrow(TypeError);
  expect(attempt).toThrow(message);
  expect(attempt).not.toThrow(SECRET);
});

it('a store, or none, is accepted', () => {
  for (const deduplicate of [undefined, new MemoryStore()])
    expect(new DeliveryReceiver({ secret: SECRET, handle, deduplicate })).toBeDefined();
});
