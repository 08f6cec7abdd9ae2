/** The top of every page: project, mode, the state of the connection, and the user menu. */
import type { ModeName, SessionInfo } from '../../../src/control/http/contract.ts';
import { signOut } from '../api.ts';
import { connection } from '../live.ts';
import { pathWithQuery } from '../model/filters.ts';
import { hrefTo, navigate, path, query } from '../router.ts';
import { goToSignIn, hrefInProject, ROLE_LABELS, scope, session } from '../session.ts';
import { isHelpOpen } from '../shortcuts.ts';
import { type Theme, theme } from '../theme.ts';
import { browserZone, chooseZone, type ZoneChoice, zoneChoice } from '../time.ts';
import { Choice } from './choice.tsx';
import { ConnectionStatus } from './connection-status.tsx';
import { Icon } from './icon.tsx';
import { Logo } from './logo.tsx';
import { Menu } from './menu.tsx';
import { outsideLinks, settingsHref } from './nav.tsx';
import { toast } from './toast.tsx';

const MODES = [
  { value: 'test', label: 'Test' },
  { value: 'live', label: 'Live' },
] as const;

const THEMES = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

const ZONES = [
  { value: 'local', label: 'Local' },
  { value: 'utc', label: 'UTC' },
] as const;

export function Header({ who }: { readonly who: SessionInfo }) {
  return (
    <header class="sticky top-0 z-20 border-b border-line bg-card">
      <div class="flex h-14 items-center gap-2 px-3 md:gap-4 md:px-4">
        <a
          href={hrefTo('')}
          class="flex items-center gap-2 rounded font-semibold tracking-tight"
          aria-label="Sched, home"
        >
          <Logo />
          <span class="hidden sm:inline">Sched</span>
        </a>
        <ScopeSwitch who={who} />
        <div class="ml-auto flex items-center gap-1">
          <ConnectionStatus
            state={CONNECTION_STATES[connection.value]}
            isQuiet={connection.value === 'live'}
          />
          <UserMenu who={who} />
        </div>
      </div>
      {scope.value?.mode === 'test' && path.value.startsWith('p/') ? (
        <p class="mode-note">
          <strong>Test mode.</strong> Requests are really sent.
          <span class="hidden sm:inline"> Schedules, keys and secrets are separate from live mode.</span>
        </p>
      ) : null}
    </header>
  );
}

/** Switches project and mode, and stays on the same kind of page. */
function ScopeSwitch({ who }: { readonly who: SessionInfo }) {
  const at = scope.value;
  if (at === null) return null;
  const go = (project: string, mode: ModeName) => navigate(hrefInProject(samePage(), { project, mode }));
  return (
    <div class="flex min-w-0 items-center gap-2">
      <label class="flex min-w-0 items-center">
        <span class="sr-only">Project</span>
        <select
          class="project-select"
          value={at.project}
          onChange={(event) => go(event.currentTarget.value, at.mode)}
        >
          {who.projects.map(({ id, name }) => (
            <option key={id} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <Choice label="Mode" value={at.mode} options={MODES} onValue={(mode) => go(at.project, mode)} />
    </div>
  );
}

/** A list exists in every project, with its filters. A single object and a cursor exist in one only. */
function samePage(): string {
  const [first, , , page = '', rest = ''] = path.peek().split('/');
  if (first !== 'p') return '';
  if (page === 'settings') return `settings/${rest}`;
  if (page === 'replays') return 'deliveries';
  if (rest !== '') return page;
  return pathWithQuery(
    page,
    new URLSearchParams([...query.peek()].filter(([name]) => !SCOPED_PARAMETERS.has(name))),
  );
}

/** Parameters that name objects of one project and mode. */
const SCOPED_PARAMETERS: ReadonlySet<string> = new Set(['cursor', 'schedule']);

const CONNECTION_STATES = {
  idle: null,
  live: { label: 'Up to date', className: 'text-good', hint: 'The page updates by itself.' },
  polling: {
    label: 'Every 5 s',
    className: 'text-dim',
    hint: 'The stream is blocked, perhaps by a proxy. The page updates every 5 s.',
  },
  reconnecting: {
    label: 'Reconnecting…',
    className: 'text-warn',
    hint: 'The connection was lost. The page may be out of date.',
  },
} as const;

async function leave(): Promise<void> {
  try {
    await signOut('logout');
  } catch {
    if (session.peek() === 'none') goToSignIn();
    else toast('bad', 'You are still signed in, because the service does not answer. Try again.');
  }
}

function UserMenu({ who }: { readonly who: SessionInfo }) {
  return (
    <Menu
      label={`User menu, ${who.user.name}`}
      button={
        <>
          <Icon name="person" />
          <span class="hidden max-w-40 truncate md:inline">{who.user.name}</span>
          <Icon name="chevron" size={12} />
        </>
      }
    >
      {(close) => (
        <div class="space-y-3">
          <p class="px-2">
            <span class="block truncate font-medium">{who.user.name}</span>
            <span class="text-sm text-dim">{ROLE_LABELS[who.user.role]}</span>
          </p>
          <Setting label="Times" hint={zoneChoice.value === 'local' ? browserZone : undefined}>
            <Choice<ZoneChoice> label="Times" value={zoneChoice.value} options={ZONES} onValue={chooseZone} />
          </Setting>
          <Setting label="Theme">
            <Choice<Theme>
              label="Theme"
              value={theme.value}
              options={THEMES}
              onValue={(value) => {
                theme.value = value;
              }}
            />
          </Setting>
          <div class="border-t border-line pt-2">
            <a class="menu-item md:hidden" href={settingsHref()} onClick={close}>
              Settings
            </a>
            <a class="menu-item" href={hrefTo('settings/account')} onClick={close}>
              Your account
            </a>
            {outsideLinks().map(([href, label]) => (
              <a key={href} class="menu-item md:hidden" href={href}>
                {label}
              </a>
            ))}
            <button
              type="button"
              class="menu-item"
              onClick={() => {
                close();
                isHelpOpen.value = true;
              }}
            >
              Keyboard shortcuts <kbd class="ml-1 text-dim">?</kbd>
            </button>
            <button type="button" class="menu-item" onClick={() => void leave()}>
              Sign out
            </button>
          </div>
        </div>
      )}
    </Menu>
  );
}

function Setting({
  label,
  hint,
  children,
}: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly children: preact.ComponentChildren;
}) {
  return (
    <div class="flex items-center justify-between gap-2 px-2">
      <span aria-hidden="true">
        {label}
        {hint === undefined ? null : <span class="block text-xs text-dim">{hint}</span>}
      </span>
      {children}
    </div>
  );
}
