/**
 * A user at the dashboard. Elements are found by role and name, as a screen reader finds them. Every method waits until
 * the page shows the element.
 */
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { OpenPage, TestBrowser } from '#test/browser/chromium.ts';

export const PASSWORD = 'seven wet umbrellas';

const ROW_MS_MAX = 60_000;

/** This is text, since it runs in the page. */
const ROW_SEEN_AT = `(texts) => new Promise((resolve, reject) => {
  const deadline = Date.now() + ${ROW_MS_MAX};
  const check = () => {
    const rows = [...document.querySelectorAll('tbody tr')].map((row) => row.textContent);
    if (rows.some((row) => texts.every((text) => row.includes(text)))) resolve(Date.now());
    else if (Date.now() > deadline) reject(new Error('There is no such row: ' + texts.join(', ')));
    else requestAnimationFrame(check);
  };
  check();
})`;

type Within = Pick<Locator, 'getByRole' | 'getByLabel' | 'getByText'>;

export class Person {
  readonly page: Page;
  readonly errors: readonly string[];
  #errorsSeen = 0;

  private constructor({ page, errors }: OpenPage) {
    this.page = page;
    this.errors = errors;
  }

  static async at(browser: TestBrowser, url: string, options?: BrowserContextOptions): Promise<Person> {
    return new Person(await browser.open(url, options));
  }

  /** Accepts an invitation, which also signs in. */
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
    await person.press('Create account');
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
    await this.page.getByRole('button', { name: /^User menu/ }).click();
    await this.press('Sign out');
    await this.heading('Sign in to Sched');
  }

  /** Follows a link of the navigation to a page whose heading has the same name. */
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

  /** Follows the first link of that name, since an empty page repeats the link of its header. */
  async follow(name: string | RegExp, within: Within = this.page): Promise<void> {
    await within.getByRole('link', { name }).first().click();
  }

  /** Opens the form for a new schedule and fills in the destination. */
  async beginSchedule(url: string): Promise<void> {
    await this.go('Schedules');
    await this.follow('New schedule');
    await this.heading('New schedule');
    await this.fill('URL', url);
  }

  async firesIn(seconds: number): Promise<void> {
    await this.fill('Amount', `${seconds}`);
    await this.select('Unit', 'seconds');
  }

  async fill(label: string, text: string, within: Within = this.page): Promise<void> {
    await within.getByLabel(label, { exact: true }).fill(text);
  }

  /** Selects a radio button. */
  async choose(name: string, within: Within = this.page): Promise<void> {
    await within.getByRole('radio', { name, exact: true }).check();
  }

  async select(label: string, option: string, within: Within = this.page): Promise<void> {
    await within.getByLabel(label, { exact: true }).selectOption({ label: option });
  }

  dialog(title: string | RegExp): Locator {
    return this.page.getByRole('dialog', { name: title });
  }

  /** A card with its heading. */
  part(name: string): Locator {
    return this.page.getByRole('region', { name, exact: true });
  }

  /** The rows of a table that contain all these texts. */
  rows(table: string | RegExp, ...texts: readonly (string | RegExp)[]): Locator {
    let found = this.page.getByRole('table', { name: table }).getByRole('row');
    for (const hasText of texts) found = found.filter({ hasText });
    return found;
  }

  async sees(text: string | RegExp, within: Within = this.page): Promise<void> {
    await within.getByText(text).first().waitFor();
  }

  /** The id in the address. */
  id(): string {
    return new URL(this.page.url()).pathname.split('/').at(-1) ?? '';
  }

  /** The time when a row with all these texts appeared. It is checked at every frame. */
  async rowSeenAt(...texts: readonly string[]): Promise<number> {
    return this.page.evaluate<number>(`(${ROW_SEEN_AT})(${JSON.stringify(texts)})`);
  }

  /** Closes the window and its session. */
  async leave(): Promise<void> {
    await this.page.context().close();
  }

  /** Expects no errors since the last check. */
  expectNoErrors(): void {
    expect(this.#newErrors()).toEqual([]);
  }

  /** Expects this refusal, which browsers also write to the console, and no other error. */
  expectRefused(path: string, status: number): void {
    const errors = this.#newErrors();
    expect(errors).toContainEqual(expect.stringContaining(`${path} ${status}`));
    const isMeant = (error: string) =>
      error.endsWith(`${path} ${status}`) || error.startsWith('Failed to load resource');
    expect(errors.filter((error) => !isMeant(error))).toEqual([]);
  }

  #newErrors(): readonly string[] {
    const errors = this.errors.slice(this.#errorsSeen);
    this.#errorsSeen = this.errors.length;
    return errors;
  }
}
