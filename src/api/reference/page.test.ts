import { describe, expect, test } from 'vitest';
import { type OpenApiDocument, openApiDocument } from '#src/api/contract/openapi.ts';
import { OPERATIONS } from '#src/api/contract/operations.ts';
import { ReferenceDocument } from './document.ts';
import { renderReference } from './page.ts';

const document = openApiDocument();
const SERVE = { dashboard: '/dashboard', dev: null };
const DEV = { dashboard: '/dashboard', dev: { inbox: '/inbox', hook: '/inbox/hook', key: 'sk_test_of_dev' } };
const page = renderReference(document, SERVE);

function idsOf(html: string): readonly string[] {
  return [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id ?? '');
}

describe('the reference page', () => {
  test('has a section for every operation and every webhook', () => {
    const names = [...Object.keys(OPERATIONS), 'receiveDelivery', 'receiveNotification', 'receiveAlert'];
    expect(names.filter((id) => !idsOf(page).includes(id))).toEqual([]);
  });

  test('has a place for every field of every body, parameters and nested fields included', () => {
    expect(idsOf(page)).toEqual(
      expect.arrayContaining([
        'createSchedule-cron',
        'createSchedule-retry_policy-max_attempts',
        'createSchedule-Idempotency-Key',
        'listSchedules-metadata',
        'listSchedules-answer-field-data-next_runs',
        'updateEndpoint-breaker_policy-threshold',
        'receiveDelivery-Sched-Signature',
        'receiveNotification-data-response-excerpt',
        'receiveAlert-data-incident-kind',
      ]),
    );
  });

  test('lists the values of a choice without null, which counts as absent', () => {
    expect(page).toContain(
      'One of <code>POST</code>, <code>PUT</code>, <code>PATCH</code>, <code>GET</code>, <code>DELETE</code>.',
    );
  });

  test('has each id once', () => {
    const ids = idsOf(page);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  });

  test('links only to places on the page and to pages of this service', () => {
    const places = new Set(idsOf(page).map((id) => `#${id}`));
    const targets = [...page.matchAll(/href="([^"]+)"/g)].map(([, target]) => target ?? '');
    const others = targets.filter(
      (target) => !places.has(target) && !target.startsWith('data:image/svg+xml,'),
    );
    expect(new Set(others)).toEqual(new Set(['/', '/dashboard', '/openapi.json', '/docs/page.css']));
  });

  test('contains no script, no style and no handler', () => {
    expect(page.match(/<style|\sstyle=|\son\w+=|javascript:/gi)).toBeNull();
    expect([...page.matchAll(/<script[^>]*>[^<]*/g)].join()).toBe(
      '<script type="module" src="/docs/page.js">',
    );
  });

  test('names every error of an operation with its status and meaning', () => {
    const { operations } = new ReferenceDocument(document);
    for (const { id, errors } of operations) {
      const { errors: own } = OPERATIONS[id as keyof typeof OPERATIONS];
      const codes = errors.map(({ code }) => code);
      expect(codes).toEqual(expect.arrayContaining([...own, 'missing_api_key', 'internal_error']));
      for (const code of codes) expect(idsOf(page)).toContain(`${id}-error-${code}`);
    }
  });

  test('offers the key and the inbox of sched dev there only', () => {
    const devPage = renderReference(document, DEV);
    expect(devPage).toContain('data-key="sk_test_of_dev" data-hook="/inbox/hook"');
    expect(devPage).toContain('href="/inbox"');
    expect(page.match(/data-key|data-hook|inbox/g)).toBeNull();
  });

  test('shows texts of the document as text', () => {
    const hostile = '"><img src=x onerror=alert(1)><script>alert(1)</script>';
    const changed = JSON.parse(
      JSON.stringify(document, (key, value: unknown) =>
        ['description', 'summary', 'title'].includes(key) && typeof value === 'string'
          ? `${value}${hostile}`
          : value,
      ),
    ) as OpenApiDocument;
    const html = renderReference(changed, SERVE);
    expect(html.match(/.{0,50}(?:<img|<script>)/g)).toBeNull();
    expect(html.split('&lt;script&gt;').length).toBeGreaterThan(100);
  });
});
