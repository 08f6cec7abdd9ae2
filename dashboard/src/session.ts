/** The session: the user, the role, and the current scope, which is a project and a mode. */
import { computed, signal } from '@preact/signals';
import type { ModeName, ProjectInfo, RoleName, SessionInfo } from '../../src/control/http/contract.ts';
import { hrefTo, match, navigate, path, query } from './router.ts';
import { recall, remember } from './storage.ts';

/** `unknown` until the first response of the service. */
export const session = signal<SessionInfo | 'unknown' | 'none'>('unknown');

export const ROLE_LABELS: Readonly<Record<RoleName, string>> = {
  viewer: 'Viewer: can read',
  operator: 'Operator: can also change schedules, endpoints and deliveries',
  admin: 'Admin: can do everything',
};
export const ROLES = Object.keys(ROLE_LABELS) as readonly RoleName[];
const MODES: readonly ModeName[] = ['test', 'live'];

/** The page hides what a role does not allow. The service refuses it anyway. */
export function hasRole(needed: RoleName): boolean {
  const who = session.value;
  return typeof who !== 'string' && ROLES.indexOf(who.user.role) >= ROLES.indexOf(needed);
}

export function csrf(): string {
  const who = session.peek();
  return typeof who === 'string' ? '' : who.csrf;
}

/** Whether the service is `sched dev`. */
export const isDev = computed(() => typeof session.value !== 'string' && session.value.is_dev);

export interface Scope {
  readonly project: string;
  readonly mode: ModeName;
}

const STORED_SCOPE = 'sched.place';

/** The scope in the address, else the last one, else the first project. Null: the user has no project. */
export const scope = computed<Scope | null>(() => {
  const who = session.value;
  if (typeof who === 'string') return null;
  return scopeOf(path.value) ?? rememberedScope(who.projects) ?? firstScope(who.projects);
});

export function scopeOf(at: string): Scope | null {
  const found = match('p/:project/:mode', at.split('/').slice(0, 3).join('/'));
  const mode = MODES.find((name) => name === found?.mode);
  return found?.project === undefined || mode === undefined ? null : { project: found.project, mode };
}

function rememberedScope(projects: readonly ProjectInfo[]): Scope | null {
  const last = scopeOf(recall(STORED_SCOPE) ?? '');
  return last !== null && projects.some(({ name }) => name === last.project) ? last : null;
}

function firstScope(projects: readonly ProjectInfo[]): Scope | null {
  const [first] = projects;
  return first === undefined ? null : { project: first.name, mode: 'test' };
}

export function rememberScope({ project, mode }: Scope): void {
  remember(STORED_SCOPE, scopePath({ project, mode }));
}

function scopePath({ project, mode }: Scope): string {
  return `p/${encodeURIComponent(project)}/${mode}`;
}

/** A path of the API in the current scope: `apiPath('overview?range=1h')`. */
export function apiPath(rest: string): string {
  const at = scope.value;
  return at === null ? `p/-/test/${rest}` : `${scopePath(at)}/${rest}`;
}

/** The `href` of a page in a scope: `hrefInProject('schedules')`. */
export function hrefInProject(rest: string, at: Scope | null = scope.value): string {
  return at === null ? hrefTo('') : hrefTo(`${scopePath(at)}/${rest}`);
}

/** Ends the session on the page and goes to the sign-in page, which leads back here. */
export function goToSignIn(): void {
  session.value = 'none';
  const here = path.peek();
  if (here === 'login' || here === 'invite') return;
  const search = query.peek().toString();
  const wanted = search === '' ? here : `${here}?${search}`;
  navigate(wanted === '' ? hrefTo('login') : `${hrefTo('login')}?to=${encodeURIComponent(wanted)}`, {
    replace: true,
  });
}

/** The page to open after signing in. The address is not trusted, so it must be a page of the dashboard. */
export function pageAfterSignIn(): string {
  const wanted = query.peek().get('to') ?? '';
  return hrefTo(/^[A-Za-z0-9]/.test(wanted) ? wanted : '');
}
