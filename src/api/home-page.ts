/**
 * Renders the page at `/`, in the look of the dashboard. It works without scripts: the script only adds a button that
 * copies the command.
 */
import { ICON_LINK, logo } from './page-parts.ts';
import { text } from './reference/html.ts';

export interface HomePage {
  readonly version: string;
  readonly dashboard: string;
  readonly inbox: string | null;
  readonly command: string;
}

interface Link {
  readonly href: string;
  readonly title: string;
  readonly about: string;
}

export function renderHome(page: HomePage): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Sched</title>
${ICON_LINK}
<style>${STYLE}</style>
</head>
<body>
<main>
<header>
${logo(36)}
<h1>Sched</h1>
<p>Version ${text(page.version)}${page.inbox === null ? '' : ', <code>sched dev</code>'}</p>
</header>
<p class="lead">Sched sends HTTP requests at the time you choose: once, after a delay, or on a cron schedule. Requests are signed, failures are retried with backoff, and every attempt is recorded.</p>
<nav aria-label="Pages">
<ul>
${linksOf(page).map(renderLink).join('\n')}
</ul>
</nav>
<section aria-labelledby="try">
<h2 id="try">Try it</h2>
${page.inbox === null ? serveText(page.dashboard) : devText(page.inbox)}
<div class="command">
<pre id="command">${text(page.command)}</pre>
<button type="button" id="copy" hidden>Copy</button>
</div>
<p id="copied" role="status"></p>
</section>
<footer>
<p>For programs: <a href="/openapi.json">openapi.json</a>, <a href="/healthz">healthz</a>, <a href="/readyz">readyz</a>. A request for <code>/</code> without <code>Accept: text/html</code> gets these links as JSON.</p>
</footer>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

function linksOf({ dashboard, inbox }: HomePage): readonly Link[] {
  const inboxLink = {
    title: 'Inbox',
    about: 'Every request that arrives here, live. Make it fail and watch the retries.',
  };
  return [
    ...(inbox === null ? [] : [{ href: inbox, ...inboxLink }]),
    {
      href: dashboard,
      title: 'Dashboard',
      about: `What will fire, what fired, and how late it was.${inbox === null ? '' : ' It opens without a password.'}`,
    },
    { href: '/docs', title: 'API reference', about: 'Every call of the API with its fields and errors.' },
  ];
}

function renderLink({ href, title, about }: Link): string {
  return `<li><a href="${text(href)}">${text(title)}</a><p>${text(about)}</p></li>`;
}

function devText(inbox: string): string {
  return `<p>Paste this into a terminal. Two seconds later the request arrives in the <a href="${text(inbox)}">inbox</a>.</p>`;
}

function serveText(dashboard: string): string {
  return `<p>Create a key with <code>sched key create --mode test</code>, or in the <a href="${text(dashboard)}">dashboard</a> under <em>Settings, API keys</em>. Put it into this command, with the URL of your own receiver, and paste it into a terminal.</p>`;
}

/** Browsers give access to the clipboard only with TLS or on the same machine. Otherwise the command is selected. */
export const SCRIPT = `
const button = document.getElementById('copy');
const command = document.getElementById('command');
const tell = (said) => { document.getElementById('copied').textContent = said; };
button.hidden = false;
button.addEventListener('click', async () => {
  try {
    await navigator.clipboard.writeText(command.textContent);
    tell('Copied.');
  } catch {
    getSelection().selectAllChildren(command);
    tell('The browser does not allow copying here. The command is selected: copy it with the keyboard.');
  }
});
`;

/** The colours and the font are those of the dashboard (`dashboard/src/theme.css`). */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: light-dark(#f6f7f9, #0e1116);
  --card: light-dark(#ffffff, #161a21);
  --sunken: light-dark(#eef0f4, #1e232c);
  --ink: light-dark(#14171f, #e7eaf0);
  --dim: light-dark(#545c6b, #9ea7b6);
  --line: light-dark(#e0e4eb, #2a303b);
  --edge: light-dark(#868fa1, #6f798b);
  --accent: light-dark(#2a54cc, #93b2ff);
  --on-accent: light-dark(#ffffff, #0b1430);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.5 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif; -webkit-text-size-adjust: 100%; }
main { max-width: 54rem; margin: 0 auto; padding: clamp(1.25rem, 5vw, 4rem) clamp(1rem, 4vw, 2rem) 3rem; }
header { display: flex; align-items: center; gap: .75rem; }
h1 { font-size: 1.75rem; line-height: 1.2; letter-spacing: -.02em; margin: 0; }
header p { margin: .4rem 0 0 auto; color: var(--dim); font-size: .875rem; }
.logo rect { fill: var(--accent); }
.logo g { stroke: var(--on-accent); }
.lead { font-size: 1.125rem; max-width: 44rem; margin: 1rem 0 2rem; }
h2 { font-size: 1.125rem; margin: 2.5rem 0 .5rem; }
p { margin: 0 0 .75rem; }
a { color: var(--accent); text-underline-offset: 2px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
ul { list-style: none; margin: 0; padding: 0; display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); }
li { position: relative; background: var(--card); border: 1px solid var(--line); border-radius: .625rem; padding: 1rem 1.125rem; }
li:hover, li:focus-within { border-color: var(--accent); }
li a { font-weight: 600; font-size: 1.0625rem; }
li a::after { content: ""; position: absolute; inset: 0; border-radius: .625rem; }
li a:focus-visible { outline: none; }
li a:focus-visible::after { outline: 2px solid var(--accent); outline-offset: 2px; }
li p { margin: .25rem 0 0; color: var(--dim); font-size: .9375rem; }
code, pre { font-family: var(--mono); font-size: .875em; }
.command { position: relative; }
pre { margin: 0; padding: 1rem 1.125rem; background: var(--card); border: 1px solid var(--line); border-radius: .625rem; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8125rem; line-height: 1.6; }
button { position: absolute; top: .625rem; right: .625rem; font: inherit; font-size: .875rem; color: var(--ink); background: var(--card); border: 1px solid var(--edge); border-radius: .375rem; padding: .2rem .75rem; cursor: pointer; }
button:hover { background: var(--sunken); }
#copied { min-height: 1.5rem; margin: .5rem 0 0; color: var(--dim); font-size: .875rem; }
footer { margin-top: 2rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--dim); font-size: .875rem; }
@media (max-width: 36rem) { button { position: static; margin-top: .5rem; width: 100%; padding: .5rem; } }
`;
