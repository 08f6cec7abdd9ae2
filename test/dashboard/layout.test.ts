/** The layout of every page, from the narrowest phone to a wide screen. */
import { beforeAll, describe, expect, test } from 'vitest';
import { created } from '#test/e2e/expectations.ts';
import { IS_POSTGRES } from '#test/process/store-in-use.ts';
import { Person } from './person.ts';
import { createAlerts, createSampleData, PROJECT, replayDeadLetters } from './sample-data.ts';
import { useService } from './service.ts';
import { everyPage, type VisitedPage, visit } from './visited-pages.ts';

/** The narrowest and the widest, and both sides of the widths at which the layout changes. */
const WIDTHS = [360, 639, 640, 831, 832, 1_000, 1_087, 1_088, 1_600];
/** For a page that has been seen at every width with other data. */
const VARIANT_WIDTHS = [360, 640, 1_088];
const HEIGHT = 900;
const EVERY_PAGE_MS_MAX = 180_000;
const BUSY_IN_MS = 20 * 60_000;
const BUSY_RUNS = 5;

/** This runs in the page: it returns words that break inside, and buttons beside the first line of their row. */
const FIND_FAULTS = `(() => {
  const faults = [];
  const isShown = (element) => element.checkVisibility() && element.closest('.sr-only, svg, option') === null;
  const rectsOf = (node, from, until) => {
    const range = document.createRange();
    range.setStart(node, from);
    range.setEnd(node, until);
    return [...range.getClientRects()].filter(({ width }) => width > 0);
  };
  const textsIn = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) if (isShown(walker.currentNode.parentElement)) found.push(walker.currentNode);
    return found.filter(({ data }) => data.trim() !== '');
  };
  for (const node of textsIn(document.getElementById('app'))) {
    for (const { 0: word, index } of node.data.matchAll(/[\\p{L}\\p{N}_]+/gu)) {
      const lines = new Set(rectsOf(node, index, index + word.length).map(({ top }) => Math.round(top)));
      if (lines.size > 1) faults.push('broken: ' + word);
    }
  }
  const middleOf = (root) => {
    const [first] = textsIn(root);
    const [{ top, bottom }] = rectsOf(first, 0, first.data.length);
    return (top + bottom) / 2;
  };
  for (const button of document.querySelectorAll('.data-table :is(.actions, .actions > span) > button')) {
    const offset = Math.round(middleOf(button) - middleOf(button.closest('tr').querySelector('th')));
    if (Math.abs(offset) > 2) faults.push(button.textContent + ' is ' + offset + ' px below its row');
  }
  return faults;
})()`;

const service = useService();
let person: Person;
let pages: readonly VisitedPage[] = [];

describe.skipIf(IS_POSTGRES)('at every width', () => {
  beforeAll(async () => {
    person = await Person.invited(service.browser(), service.invitation(), 'ada@example.com');
    const made = await createSampleData(service.api, service.receiver());
    const replay = await replayDeadLetters(person, service.sched().url);
    pages = everyPage(made, replay, await createAlerts(person, service.receiver()));
  });

  test(
    'no word breaks inside, and the buttons of a row lie on its first line',
    async () => {
      // The browser does not draw what is fully transparent. Its layout is the same.
      await person.page.evaluate("document.documentElement.style.opacity = '0'");
      for (const page of pages) {
        await visit(person, page);
        for (const width of page.isVariant === true ? VARIANT_WIDTHS : WIDTHS) {
          await person.page.setViewportSize({ width, height: HEIGHT });
          const faults = await person.page.evaluate<readonly string[]>(FIND_FAULTS);
          expect({ page: page.name, width, faults }).toEqual({ page: page.name, width, faults: [] });
        }
      }
    },
    EVERY_PAGE_MS_MAX,
  );

  test('busy times are not shown in the colour of failures', async () => {
    const fire_at = new Date(Date.now() + BUSY_IN_MS).toISOString();
    for (let made = 0; made < BUSY_RUNS; made++)
      await created(service.api, { endpoint: 'https://shop.example/hook', fire_at });
    await person.page.goto(`${service.sched().url}/dashboard/${PROJECT}/upcoming`);
    await person.sees('Busiest:');
    expect(await person.page.locator('main :is(.text-bad, .bg-bad-soft)').count()).toBe(0);
  });
});
