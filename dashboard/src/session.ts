/** Who is signed in, what they may do, and which project and mode they look at. */
import { computed, signal } from '@preact/signals';
import type { ModeName, ProjectInfo, RoleName, SessionInfo } from '../../src/control/http/contract.ts';
import { match, navigate, path, query, to } from './router.ts';
import { recall, remember } from './storage.ts';

/** `unknown` until the service was asked. */
export const session = signal<SessionInfo | 'unknown' | 'none'>('unknown');

const ROLES: readonly RoleName[] = ['viewer', 'operator', 'admin'];
const MODES: readonly ModeName[] = ['test', 'live'];

/** What a role may not do is not offered; the service refuses it anyway. */
export function may(needed: RoleName): boolean {
  const who = session.value;
  return typeof who !== 'string' && ROLES.indexOf(who.user.role) >= ROLES.indexOf(needed);
}

export function csrf(): string {
  const who = session.peek();
  return typeof who === 'string' ? '' : who.csrf;
}

export interface Place {
  readonly project: string;
  readonly mode: ModeName;
}

const REMEMBERED_PLACE = 'sched.place';

/** The project and mode in the address; else the last ones; else the first there is. Null: no project at all. */
export const place = computed<Place | null>(() => {
  const who = session.value;
  if (typeof who === 'string') return null;
  return placeOf(path.value) ?? rememberedPlace(who.projects) ?? firstPlace(who.projects);
});

export function placeOf(at: string): Place | null {
  const found = match('p/:project/:mode', at.split('/').slice(0, 3).join('/'));
  const mode = MODES.find((name) => name === found?.mode);
  return found?.project === undefined || mode === undefined ? null : { project: found.project, mode };
}

function rememberedPlace(projects: readonly ProjectInfo[]): Place | null {
  const last = placeOf(recall(REMEMBERED_PLACE) ?? '');
  return last !== null && projects.some(({ name }) => name === last.project) ? last : null;
}

function firstPlace(projects: readonly ProjectInfo[]): Place | null {
  const [first] = projects;
  return first === undefined ? null : { project: first.name, mode: 'test' };
}

export function rememberPlace({ project, mode }: Place): void {
  remember(REMEMBERED_PLACE, below({ project, mode }));
}

function below({ project, mode }: Place): string {
  return `p/${encodeURIComponent(project)}/${mode}`;
}

/** A path of the control plane for what is looked at: `inProject('overview?range=1h')`. */
export function inProject(rest: string): string {
  const at = place.value;
  return at === null ? `p/-/test/${rest}` : `${below(at)}/${rest}`;
}

/** A page of what is looked at, for `href`: `toPage('schedules')`. */
export function toPage(rest: string, at: Place | null = place.value): string {
  return at === null ? to('') : to(`${below(at)}/${rest}`);
}

/** The session is over: to the sign-in page, which leads back here. */
export function signedOut(): void {
  session.value = 'none';
  const here = path.peek();
  if (here === 'login' || here === 'invite') return;
  const search = query.peek().toString();
  const wanted = search === '' ? here : `${here}?${search}`;
  navigate(wanted === '' ? to('login') : `${to('login')}?to=${encodeURIComponent(wanted)}`, {
    replace: true,
  });
}

/** Where to go after signing in. Only a page of the dashboard: what comes from the address is not trusted. */
export function wantedPage(): string {
  const wanted = query.peek().get('to') ?? '';
  return to(/^[A-Za-z0-9]/.test(wanted) ? wanted : '');
}
