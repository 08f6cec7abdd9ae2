/**
 * A real browser for tests (see `executable.ts`). All files of a worker share one, which ends with the process. The windows
 * that a file has opened close with its scope.
 *
 *     await using browser = await useChromium();
 *     const { page, errors } = await browser.open(url);
 *     …
 *     expect(errors).toEqual([]);
 */
import chromium from '@sparticuz/chromium';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
  chromium as playwright,
  type Response,
} from 'playwright-core';
import { faultsOfAnswer } from '#test/control/answers.ts';
import { browserPath } from './executable.ts';

/** The limit for a step on a page, on a machine that is shared with other tests. */
const STEP_MS_MAX = 60_000;

/**
 * Arguments that the package adds for cloud functions, and that tests must not have. In a single process, separate
 * windows share cookies, and closing one closes all. Without web security a page may do what browsers forbid. Graphics
 * in software take more than half of the time.
 */
const UNWANTED = new Set([
  '--single-process',
  '--disable-web-security',
  '--allow-running-insecure-content',
  '--disable-site-isolation-trials',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--ignore-gpu-blocklist',
  '--in-process-gpu',
]);

/** Windows have separate cookies in a shared process too, and a process for each takes processor time. */
const WANTED = ['--disable-gpu', '--renderer-process-limit=1'];

export interface OpenPage {
  readonly page: Page;
  /** Errors in the console, exceptions, and failed requests. A correct page has none. */
  readonly errors: readonly string[];
}

export interface TestBrowser extends AsyncDisposable {
  open(url: string, options?: BrowserContextOptions): Promise<OpenPage>;
}

let shared: Promise<Browser> | null = null;

export async function useChromium(): Promise<TestBrowser> {
  shared ??= launch();
  const browser = await shared;
  const contexts: BrowserContext[] = [];
  return {
    open: async (url, options) => {
      const context = await browser.newContext(options);
      contexts.push(context);
      return openPage(context, url);
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(contexts.map((context) => context.close()));
    },
  };
}

/** Ends the browser. Tests do not need it: their process ends it. */
export async function closeChromium(): Promise<void> {
  const browser = await shared;
  shared = null;
  await browser?.close();
}

async function launch(): Promise<Browser> {
  return playwright.launch({
    executablePath: await browserPath(),
    args: [...chromium.args.filter((argument) => !UNWANTED.has(argument)), ...WANTED],
  });
}

const CONTROL_API = '/dashboard/api/';

/** Every answer that a page of the dashboard gets must be as its schema says. */
async function checkAnswer(response: Response, errors: string[]): Promise<void> {
  const { pathname } = new URL(response.url());
  const isJson = response.headers()['content-type']?.startsWith('application/json') ?? false;
  if (!pathname.startsWith(CONTROL_API) || !isJson) return;
  // A page that is left before its answer arrives never reads it.
  const text = await response.text().catch(() => null);
  if (text === null) return;
  const method = response.request().method();
  const path = pathname.slice(CONTROL_API.length);
  const faults = faultsOfAnswer(method, path, response.status(), JSON.parse(text));
  if (faults !== '') errors.push(`${method} ${path}: ${faults}`);
}

async function openPage(context: BrowserContext, url: string): Promise<OpenPage> {
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_MS_MAX);
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText;
    // Requests are aborted when a page is left or reloaded.
    if (why !== 'net::ERR_ABORTED') errors.push(`${request.url()} ${why}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) errors.push(`${response.url()} ${response.status()}`);
    else void checkAnswer(response, errors);
  });
  await page.goto(url);
  return { page, errors };
}
