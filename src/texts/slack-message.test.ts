import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AlertContent } from '#src/domain/alert-message.ts';
import type { AlertConditionId, AlertIncidentId } from '#src/domain/id.ts';
import { SLACK_LIMITS, type SlackBlock, slackMessage } from './slack-message.ts';

const CONTENT: AlertContent = {
  title: 'Breaker open: orders',
  text: 'The circuit breaker opened.',
  url: 'https://sched.example/dashboard/p/shop/live/alerts/inc_1',
  project: 'shop',
  mode: 'live',
  incident: {
    id: 'inc_1' as AlertIncidentId,
    condition_id: 'alc_1' as AlertConditionId,
    kind: 'breaker_opened',
    endpoint: 'https://a.example/',
    opened_at: '2026-11-15T08:00:00.000Z',
    closed_at: null,
  },
};

const HOSTILE: Readonly<Record<string, string>> = {
  'a mention of everybody': '<!channel>',
  'a mention of a user': '<@U123|you>',
  'an escaped character': '&amp;',
  'control characters of Slack': 'a & b < c > d',
  'many ampersands': '&'.repeat(5_000),
  'a header of brackets': '<'.repeat(150),
  'a huge name': 'x'.repeat(100_000),
  'many emoji': '🚒'.repeat(4_000),
  'an emoji of parts': '👩‍👩‍👧',
  'line breaks': 'a\nb\r\nc\td\u2028e',
  'a lone surrogate': '\ud800',
  'an emoji at the limit': `${'x'.repeat(148)}\ud83d\ude92`,
  'a change of direction': '\u202eexe.gpj',
  'marks of mrkdwn': '*bold* _it_ `code` ~no~',
  'another link': '<https://evil.example|Open the dashboard>',
};

function textsIn(block: SlackBlock): readonly { readonly text: string }[] {
  return block.type === 'context' ? block.elements : [block.text];
}

/** What Slack would find: control sequences that are not escaped, and broken characters. */
function expectSafe(text: string): void {
  expect(text.isWellFormed()).toBe(true);
  expect(text.replaceAll(/&(amp|lt|gt);/g, '')).not.toMatch(/[<>&]/);
  expect(text).not.toMatch(/[^\P{Cc}\n]/u);
}

/** The limits that Slack documents for these blocks. */
function expectWithinLimits(content: AlertContent): void {
  const { text, blocks } = slackMessage(content);
  expectSafe(text);
  expect(text.length).toBeLessThanOrEqual(SLACK_LIMITS.section);
  expect(blocks.length).toBeLessThanOrEqual(SLACK_LIMITS.blocks);
  for (const block of blocks) {
    const max = block.type === 'header' ? SLACK_LIMITS.header : SLACK_LIMITS.section;
    const texts = textsIn(block);
    expect(texts.length).toBeLessThanOrEqual(SLACK_LIMITS.contextElements);
    for (const { text } of texts) {
      expect(text.length).toBeGreaterThan(0);
      expect(text.length).toBeLessThanOrEqual(max);
      if (!text.startsWith('<https://sched.example/')) expectSafe(text);
    }
    if (block.type === 'header') expect(block.text.text).not.toContain('\n');
  }
}

test('says what happened, in which project, since when, and links to the dashboard', () => {
  expect(slackMessage(CONTENT)).toEqual({
    text: 'Breaker open: orders\nThe circuit breaker opened.',
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: 'Breaker open: orders', emoji: false } },
      { type: 'section', text: { type: 'mrkdwn', text: 'The circuit breaker opened.', verbatim: true } },
      {
        type: 'context',
        elements: [
          { type: 'mrkdwn', text: 'Project shop (live), since 2026-11-15 08:00:00 UTC', verbatim: true },
          {
            type: 'mrkdwn',
            text: '<https://sched.example/dashboard/p/shop/live/alerts/inc_1|Open the dashboard>',
            verbatim: true,
          },
        ],
      },
    ],
  });
});

test('has no link where the address of the dashboard is not known', () => {
  const closed_at = '2026-11-15T09:00:00.000Z';
  const incident = CONTENT.incident === null ? null : { ...CONTENT.incident, closed_at };
  expect(slackMessage({ ...CONTENT, url: null, incident }).blocks.at(-1)).toEqual({
    type: 'context',
    elements: [
      {
        type: 'mrkdwn',
        text: 'Project shop (live), since 2026-11-15 08:00:00 UTC, until 2026-11-15 09:00:00 UTC',
        verbatim: true,
      },
    ],
  });
});

describe('the limits and the escaping of Slack hold', () => {
  test.each(Object.entries(HOSTILE))('for %s', (_, name) => {
    expectWithinLimits({ ...CONTENT, title: name, text: name });
    expectWithinLimits({
      ...CONTENT,
      title: `Breaker open: ${name}`,
      text: `The breaker of ${name} opened.`,
    });
  });

  test('for any text', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4_000 }),
      fc
        .array(fc.constantFrom(...Object.values(HOSTILE)), { minLength: 1, maxLength: 5 })
        .map((all) => all.join('')),
    );
    fc.assert(
      fc.property(text, text, (title, body) => expectWithinLimits({ ...CONTENT, title, text: body })),
    );
  });

  test('and an escaped character is never cut in two', () => {
    for (let length = 140; length <= 150; length++) {
      const [header] = slackMessage({ ...CONTENT, title: `${'x'.repeat(length)}&&&&` }).blocks;
      const text = header?.type === 'header' ? header.text.text : '';
      expect(text).toMatch(/^x+(&amp;)*…?$/);
    }
  });
});
