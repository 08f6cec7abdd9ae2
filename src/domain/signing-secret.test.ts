import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { signingSecretText, standardWebhooksKey } from './signing-secret.ts';

describe('the key of Standard Webhooks', () => {
  test('is what follows whsec_ in base64', () => {
    expect(standardWebhooksKey('whsec_Z3V0ZW4gVGFn')).toEqual(Buffer.from('guten Tag'));
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), (key) => {
        expect(Uint8Array.from(standardWebhooksKey(signingSecretText(key)) ?? [])).toEqual(key);
      }),
    );
  });

  test.for<readonly [text: string, why: string]>([
    ['', 'nothing at all'],
    ['whsec_', 'no key'],
    ['whsec_=', 'only padding'],
    ['Z3V0ZW4gVGFn', 'no prefix'],
    ['WHSEC_Z3V0ZW4gVGFn', 'another prefix'],
    ['whsk_Z3V0ZW4gVGFn', 'the prefix of an asymmetric key'],
    ['whsec_local_development_only', 'characters of base64url'],
    ['whsec_Z3V0ZW4gVGFn ', 'a space'],
    ['whsec_Z3V0ZW4g\nVGFn', 'a line break'],
    ['whsec_Z3V0ZW4gVGE', 'no padding'],
    ['whsec_Z3V0ZW4gVGE==', 'too much padding'],
    ['whsec_Z3V0ZW4gVGF=', 'bits that no encoder sets'],
    ['whsec_Z3V0ZW4gVGFn.', 'a period'],
  ])('does not exist for %j: %s', ([text]) => {
    expect(standardWebhooksKey(text)).toBeNull();
  });

  test('exists for each secret that Sched generates', () => {
    for (let length = 24; length <= 64; length++) {
      expect(standardWebhooksKey(signingSecretText(randomBytes(length)))).toHaveLength(length);
    }
  });
});
