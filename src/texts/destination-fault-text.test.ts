import { describe, expect, test } from 'vitest';
import { destinationFaultText } from './destination-fault-text.ts';

const HTTPS = 'endpoint must be an absolute https:// URL such as "https://example.com/hook"';

describe('a destination', () => {
  test.each([
    ['', `${HTTPS}. It is empty.`],
    [5, `${HTTPS}, not a number.`],
    ['example.com/hook', `${HTTPS}. It has no scheme: begin with "https://example.com".`],
    ['localhost:3000/hook', `${HTTPS}. It has no scheme: begin with "https://localhost:3000".`],
    ['a:secret@example.com', `${HTTPS}. It has no scheme.`],
    ['https:example.com', `${HTTPS}. Write two slashes and a host after the scheme.`],
    ['HTTPS:///hook', `${HTTPS}. Write two slashes and a host after the scheme.`],
    ['ftp://example.com', `${HTTPS}. It has the scheme "ftp".`],
    ['javascript:alert(1)', `${HTTPS}. It has the scheme "javascript".`],
    ['https://example.com:99999/', `${HTTPS}. Its host or port is not valid.`],
    ['https://exa mple.com/', `${HTTPS}. Its host or port is not valid.`],
    ['https://example.com/ ', `${HTTPS}. It begins or ends with a space.`],
    ['https:\\\\example.com', `${HTTPS}. It has a backslash: write / instead.`],
    ['https://example.com/\na', `${HTTPS}. It has a line break or another control character.`],
    ['https://example.com/\ud800', `${HTTPS}. It has half of a surrogate pair.`],
    [`https://${'a'.repeat(9_000)}`, 'endpoint has 9,008 characters. A URL may have at most 8,192.'],
  ])('%.40j', (value, message) => {
    expect(destinationFaultText(value, 'endpoint', false)).toBe(message);
  });

  test.each(['127.0.0.1', '[::1]', 'localhost', 'LOCALHOST:3000'])('http://%s names sched dev', (host) => {
    expect(destinationFaultText(`http://${host}/`, 'endpoint', false)).toContain('use "sched dev"');
  });

  test('an address can be allowed, but the name localhost cannot', () => {
    const message = (host: string) => destinationFaultText(`http://${host}/`, 'endpoint', false);
    expect(message('127.0.0.1')).toContain('can allow it with SCHED_EGRESS_ALLOW');
    expect(message('localhost')).toContain('can allow the address 127.0.0.1 with SCHED_EGRESS_ALLOW');
  });

  test.each(['10.0.0.5', '192.168.1.1', '169.254.169.254', '[fd00::1]', '2130706434'])(
    'http://%s is not public',
    (host) => {
      const message = destinationFaultText(`http://${host}/`, 'endpoint', false);
      expect(message).toMatch(/is not public|sched dev/);
      expect(message).toContain('SCHED_EGRESS_ALLOW_HTTP');
    },
  );

  test('on your own machine, http:// is offered where it is allowed', () => {
    expect(destinationFaultText('localhost:3000/hook', 'endpoint', true)).toMatch(
      /begin with "http:\/\/localhost:3000"\.$/,
    );
    expect(destinationFaultText('example.com', 'endpoint', true)).toMatch(
      /begin with "https:\/\/example\.com"\.$/,
    );
  });
});
