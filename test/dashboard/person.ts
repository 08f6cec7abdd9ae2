/**
 * Somebody at the dashboard. Everything is found as a screen reader names it, by role and name, and never by how it
 * looks; and everything is waited for until the page shows it.
 */
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { OpenPage, TestBrowser } from '#test/browser/chromium.ts';

export const PASSWORD = 'seven wet umbrellas';

const ROW_MS_MAX = 15_000;

/** In the page, which is no part of this program: as text. */
const ROW_SEEN_AT = `(texts) => new Promise((resolve, reject) => {
  const patience = Date.now() + ${ROW_MS_MAX};
  const look = () => {
    const rows = [...document.querySelectorAll('tbody tr')].map((row) => row.textContent);
    if (rows.some((row) => texts.every((text) => row.includes(text)))) resolve(Date.now());
    else if (Date.now() > patience) reject(new Error('There is no such row: ' + texts.join(', ')));
    else requestAnimationFrame(look);
  };
  look();
})`;

type Within = Pick<Locator, 'getByRole' | 'getByLabel' | 'getByText'>;

export class Person {
  readonly page: Page;
  readonly errors: readonly string[];
  #faultsSeen = 0;

  private constructor({ page, errors }: OpenPage) {
    this.page = page;
    this.errors = errors;
  }

  static async at(browser: TestBrowser, url: string, options?: BrowserContextOptions): Promise<Person> {
    return new Person(await browser.open(url, options));
  }

  /** Opens the link of an invitation, and is signed in. */
  static async invited(
    browser: TestBrowser,
    link: string,
    name: string,
    options?: BrowserContextOptions,
  ): Promise<Person> {
    const person = await Person.at(browser, link, options);
    await person.heading('Welcome to Sched');
    await person.fill('Name', name);
    await person.fill('Password', PASSWORD);
    await person.press('Make my account');
    await person.heading('Overview');
    return person;
  }

  async signIn(name: string, password = PASSWORD): Promise<void> {
    await this.heading('Sign in to Sched');
    await this.fill('Name', name);
    await this.fill('Password', password);
    await this.press('Sign in');
  }

  async signOut(): Promise<void> {
    await this.page.getByRole('button', { name: /^Your menu/ }).click();
    await this.press('Sign out');
    await this.heading('Sign in to Sched');
  }

  /** By the links at the side, to a page with a heading of the same name. */
  async go(name: string, title = name): Promise<void> {
    await this.page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name, exact: true })
      .click();
    await this.heading(title);
  }

  async goToSettings(name: string): Promise<void> {
    await this.go('Settings', 'API keys');
    if (name === 'API keys') return;
    await this.page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name }).click();
    await this.heading(name);
  }

  async heading(name: string | RegExp): Promise<void> {
    await this.page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  }

  async press(name: string | RegExp, within: Within = this.page): Promise<void> {
    await within.getByRole('button', { name, exact: true }).click();
  }

  /** The first of that name: an empty page offers what its head offers once more. */
  async follow(name: string | RegExp, within: Within = this.page): Promise<void> {
    await within.getByRole('link', { name }).first().click();
  }

  /** The form for a new schedule, with its destination. */
  async beginSchedule(url: string): Promise<void> {
    await this.go('Schedules');
    await this.follow('New schedule');
    await this.heading('New schedule');
    await this.fill('Destination', url);
  }

  async firesIn(seconds: number): Promise<void> {
    await this.fill('In', `${seconds}`);
    await this.select('Unit', 'seconds');
  }

  async fill(label: string, text: string, within: Within = this.page): Promise<void> {
    await within.getByLabel(label, { exact: true }).fill(text);
  }

  /** Radio buttons, however they look. */
  async choose(name: string, within: Within = this.page): Promise<void> {
    await within.getByRole('radio', { name, exact: true }).check();
  }

  async select(label: string, option: string, within: Within = this.page): Promise<void> {
    await within.getByLabel(label, { exact: true }).selectOption({ label: option });
  }

  dialog(title: string | RegExp): Locator {
    return this.page.getByRole('dialog', { name: title });
  }

  /** A named part of the page: a card with its heading. */
  part(name: string): Locator {
    return this.page.getByRole('region', { name, exact: true });
  }

  /** The rows of a table that hold all these texts. */
  rows(table: string | RegExp, ...texts: readonly (string | RegExp)[]): Locator {
    let found = this.page.getByRole('table', { name: table }).getByRole('row');
    for (const hasText of texts) found = found.filter({ hasText });
    return found;
  }

  async sees(text: string | RegExp, within: Within = this.page): Promise<void> {
    await within.getByText(text).first().waitFor();
  }

  /** The last part of the address: the id of what is looked at. */
  id(): string {
    return new URL(this.page.url()).pathname.split('/').at(-1) ?? '';
  }

  /** When a row with all these texts was painted, by the clock of this machine: looked for at every frame. */
  async rowSeenAt(...texts: readonly string[]): Promise<number> {
    return this.page.evaluate<number>(`(${ROW_SEEN_AT})(${JSON.stringify(texts)})`);
  }

  /** Closes the window, and with it all that the browser knows of them. */
  async leave(): Promise<void> {
    await this.page.context().close();
  }

  /** Since they were looked at last. */
  expectNoErrors(): void {
    expect(this.#newFaults()).toEqual([]);
  }

  /** A refusal that was asked for, which browsers write to the console as well; and nothing else. */
  expectRefused(path: string, status: number): void {
    const errors = this.#newFaults();
    expect(errors).toContainEqual(expect.stringContaining(`${path} ${status}`));
    const isMeant = (fault: string) =>
      fault.endsWith(`${path} ${status}`) || fault.startsWith('Failed to load resource');
    expect(errors.filter((fault) => !isMeant(fault))).toEqual([]);
  }

  #newFaults(): readonly string[] {
    const errors = this.errors.slice(this.#faultsSeen);
    this.#faultsSeen = this.errors.length;
    return errors;
  }
}
