/** Every page and every dialog of the dashboard, for tests and screenshots. */

import type { Person } from './person.ts';
import { PROJECT, type SampleData } from './sample-data.ts';

export interface VisitedPage {
  readonly name: string;
  /** The path below `/dashboard/`. */
  readonly path: string;
  readonly title: string | RegExp;
  /** A text that appears with the data. */
  readonly shows: string | RegExp;
  /** Whether it is the same page as another one, with other data. */
  readonly isVariant?: boolean;
  /** Opens a dialog or a menu on the page. */
  readonly open?: (person: Person) => Promise<void>;
}

/** The headings of objects: what it is, and its name or its destination once it is loaded. */
export const SCHEDULE = /^Schedule( |$)/;
export const DELIVERY = /^Delivery( |$)/;
export const PROFILE = /^Endpoint profile( |$)/;
export const INCIDENT = /^Incident( |$)/;

const NO_SUCH_PAGE: VisitedPage = {
  name: 'no such page',
  path: 'nowhere',
  title: 'This page does not exist',
  shows: 'The link may be old',
};

/** Pages for users who are not signed in. */
export const SIGNED_OUT_PAGES: readonly VisitedPage[] = [
  { name: 'sign in', path: 'login', title: 'Sign in to Sched', shows: 'Password' },
  { name: 'invitation without a token', path: 'invite', title: 'Welcome to Sched', shows: 'Sign in' },
];

/** `replay` is the id of a bulk replay, `incident` that of an open incident. */
export function everyPage(made: SampleData, replay: string, incident: string): readonly VisitedPage[] {
  const { schedules, deliveries, endpoint } = made;
  const page = (name: string, path: string, title: string | RegExp, shows: string | RegExp): VisitedPage => ({
    name,
    path,
    title,
    shows,
  });
  const variant = (...described: Parameters<typeof page>): VisitedPage => ({
    ...page(...described),
    isVariant: true,
  });
  const delivery = (name: string, id: string, shows: string | RegExp) =>
    variant(`delivery, ${name}`, `${PROJECT}/deliveries/${id}`, DELIVERY, shows);
  return [
    page('overview', PROJECT, 'Overview', 'Open breakers'),
    variant('overview of 30 days', `${PROJECT}?range=30d`, 'Overview', 'Open breakers'),
    page('schedules', `${PROJECT}/schedules`, 'Schedules', /sch_/),
    variant(
      'schedules, none found',
      `${PROJECT}/schedules?q=nothing`,
      'Schedules',
      'No schedule matches the filters',
    ),
    page('schedule, recurring', `${PROJECT}/schedules/${schedules.recurring}`, SCHEDULE, /Europe\/Berlin/),
    variant('schedule, completed', `${PROJECT}/schedules/${schedules.completed}`, SCHEDULE, /dlv_/),
    variant('schedule, paused', `${PROJECT}/schedules/${schedules.paused}`, SCHEDULE, /dlv_/),
    variant('schedule, unknown', `${PROJECT}/schedules/sch_unknown`, SCHEDULE, 'Try again'),
    page('new schedule', `${PROJECT}/schedules/new`, 'New schedule', 'One run'),
    page('activity', `${PROJECT}/deliveries`, 'Deliveries', /attempt 1/),
    page('waiting', `${PROJECT}/deliveries?tab=waiting`, 'Deliveries', 'circuit breaker is open'),
    variant(
      'waiting of an endpoint profile',
      `${PROJECT}/deliveries?tab=waiting&endpoint=${endpoint}`,
      'Deliveries',
      'circuit breaker is open',
    ),
    page('ended', `${PROJECT}/deliveries?tab=ended`, 'Deliveries', /dlv_/),
    variant(
      'activity, none found',
      `${PROJECT}/deliveries?endpoint=ep_${'0'.repeat(26)}`,
      'Deliveries',
      'No attempt matches the filters',
    ),
    variant('dead letters', `${PROJECT}/deliveries?status=dead_letter`, 'Deliveries', 'Replay dead letters…'),
    delivery('succeeded', deliveries.succeeded, /#2/),
    delivery('retrying', deliveries.retrying, 'Next attempt'),
    page('delivery, dead letter', `${PROJECT}/deliveries/${deliveries.deadLetter}`, DELIVERY, /#3/),
    delivery('expired', deliveries.expired, 'Expired'),
    delivery('sending', deliveries.sending, 'Attempts'),
    delivery('waiting for a breaker', deliveries.waiting, 'Next attempt'),
    delivery('triggered', deliveries.triggered, 'Triggered'),
    delivery('notification', deliveries.notification, 'Notification of'),
    page('endpoints', `${PROJECT}/endpoints`, 'Endpoints', 'Close breaker…'),
    page('endpoint', `${PROJECT}/endpoints/${endpoint}`, PROFILE, 'Close breaker…'),
    page('new endpoint', `${PROJECT}/endpoints/new`, 'New endpoint profile', 'Timeout'),
    page('upcoming', `${PROJECT}/upcoming`, 'Upcoming', 'Runs in order'),
    variant('upcoming week', `${PROJECT}/upcoming?window=7d`, 'Upcoming', 'Runs in order'),
    page('alerts', `${PROJECT}/alerts`, 'Alerts', /^Breaker open: /),
    variant('alerts, none yet', 'p/default/live/alerts', 'Alerts', 'No alerts yet'),
    page('incident', `${PROJECT}/alerts/${incident}`, INCIDENT, /c{30}|#on-call/),
    page('bulk replays', `${PROJECT}/replays`, 'Bulk replays', 'Done'),
    page('bulk replay', `${PROJECT}/replays/${replay}`, 'Bulk replay', 'Done'),
    page('keys', `${PROJECT}/settings/keys`, 'API keys', 'Valid'),
    page('secrets', `${PROJECT}/settings/secrets`, 'Signing secrets', 'Active'),
    page('account', 'settings/account', 'Your account', 'This session'),
    page('people', 'settings/people', 'People', 'You'),
    page('projects', 'settings/projects', 'Projects', /prj_/),
    page('audit', 'settings/audit', 'Audit log', 'invitation.accept'),
    page('about', 'settings/about', 'About and retention', 'Retention'),
    NO_SUCH_PAGE,
  ];
}

/** A form with errors at a field and in a group of fields. The page finds them without a request. */
const REFUSED_FORM: VisitedPage = {
  name: 'new schedule with errors',
  path: `${PROJECT}/schedules/new`,
  title: 'New schedule',
  shows: 'One run',
  open: async (person) => {
    await person.press('Add header');
    await person.fill('Value of header 1', 'x');
    await person.press('Create schedule');
    await person.sees('Every header needs a name.');
  },
};

/** A form with fields that are shown only if somebody is told. */
const TOLD: VisitedPage = {
  name: 'new endpoint that notifies',
  path: `${PROJECT}/endpoints/new`,
  title: 'New endpoint profile',
  shows: 'Timeout',
  open: async (person) => {
    await person.select('Notifications', 'Tell an endpoint profile');
    await person.page.getByText('Outcomes that are told').scrollIntoViewIfNeeded();
  },
};

export function everyDialog(made: SampleData): readonly VisitedPage[] {
  const { schedules, deliveries, endpoint } = made;
  const schedule = `${PROJECT}/schedules/${schedules.recurring}`;
  const alerts = `${PROJECT}/alerts`;
  const dialog = (
    path: string,
    title: string | RegExp,
    button: string | RegExp,
    name: string | RegExp,
  ): VisitedPage => ({
    name: `dialog: ${typeof name === 'string' ? name : name.source}`,
    path,
    title,
    shows: '',
    open: async (person) => {
      await person.page.getByRole('button', { name: button }).first().click();
      await person.dialog(name).waitFor();
    },
  });
  return [
    dialog(schedule, SCHEDULE, /^Trigger now…/, 'Trigger now'),
    dialog(schedule, SCHEDULE, /^Reschedule…/, 'Reschedule'),
    dialog(schedule, SCHEDULE, /^Edit…/, 'Edit schedule'),
    dialog(schedule, SCHEDULE, /^Cancel…/, 'Cancel this schedule'),
    dialog(schedule, SCHEDULE, /^Reveal…/, 'Reveal headers and body'),
    dialog(`${PROJECT}/deliveries?status=dead_letter`, 'Deliveries', /^Replay dead/, 'Replay in bulk'),
    dialog(`${PROJECT}/deliveries/${deliveries.deadLetter}`, DELIVERY, /^Replay…/, 'Replay this delivery'),
    dialog(`${PROJECT}/deliveries/${deliveries.triggered}`, DELIVERY, /^Cancel…/, 'Cancel this delivery'),
    dialog(`${PROJECT}/endpoints`, 'Endpoints', /^Close breaker…/, 'Close this breaker'),
    dialog(`${PROJECT}/endpoints/${endpoint}`, PROFILE, /^Edit…/, 'Edit endpoint profile'),
    dialog(`${PROJECT}/endpoints/${endpoint}`, PROFILE, /^Archive…/, 'Archive this endpoint profile'),
    dialog(`${PROJECT}/endpoints/${endpoint}`, PROFILE, /^Create…/, 'Create a signing secret'),
    dialog(alerts, 'Alerts', /^Add channel/, 'Add a channel'),
    dialog(alerts, 'Alerts', /^Test /, /^Test of /),
    dialog(alerts, 'Alerts', /^Rename /, 'Rename the channel'),
    dialog(alerts, 'Alerts', /^Reveal /, 'Reveal this URL?'),
    dialog(alerts, 'Alerts', /^Remove .*old/, 'Remove this channel'),
    dialog(alerts, 'Alerts', /^Add condition/, 'Add a condition'),
    dialog(alerts, 'Alerts', /^Change: More/, 'Change this condition'),
    dialog(alerts, 'Alerts', /^Switch off/, 'Switch off this condition'),
    dialog(alerts, 'Alerts', /^Remove: /, 'Remove this condition'),
    dialog(`${PROJECT}/settings/keys`, 'API keys', /^Revoke/, 'Revoke this key?'),
    dialog(`${PROJECT}/settings/secrets`, 'Signing secrets', /^Rotate…/, 'Rotate the signing secret'),
    dialog(`${PROJECT}/settings/secrets`, 'Signing secrets', /^Reveal/, 'Reveal this secret?'),
    dialog('settings/people', 'People', /^Invite$/, 'Invite a user'),
    dialog('settings/people', 'People', /^Change/, 'Change ada@example.com'),
    dialog('settings/people', 'People', /^Remove/, 'Remove ada@example.com?'),
    dialog('settings/projects', 'Projects', /^New project/, 'New project'),
    dialog('settings/account', 'Your account', /^Sign out everywhere/, 'Sign out everywhere?'),
    dialog(PROJECT, 'Overview', /^User menu/, ''),
    REFUSED_FORM,
    TOLD,
  ].map((page) => (page.name === 'dialog: ' ? menu(page) : page));
}

/** The user menu is not a dialog, but it is on top of the page too. */
function menu(page: VisitedPage): VisitedPage {
  return {
    ...page,
    name: 'menu and shortcuts',
    open: async (person) => {
      await person.page.getByRole('button', { name: /^User menu/ }).click();
      await person.page.getByRole('button', { name: /^Keyboard shortcuts/ }).waitFor();
    },
  };
}

/** Changes the address as a link does, without loading the page again. */
async function goTo(person: Person, path: string): Promise<void> {
  const address = JSON.stringify(`/dashboard/${path}`);
  await person.page.evaluate(
    `history.pushState(null, '', ${address}); dispatchEvent(new PopStateEvent('popstate'));`,
  );
}

const lastVisits = new WeakMap<Person, VisitedPage>();

/** Loads a page, for users who are not signed in. */
export async function load(person: Person, origin: string, page: VisitedPage): Promise<void> {
  await person.page.goto(`${origin}/dashboard/${page.path}`);
  await waitUntilShown(person, page);
}

/** Goes to a page within the loaded dashboard. */
export async function visit(person: Person, page: VisitedPage): Promise<void> {
  const last = lastVisits.get(person);
  lastVisits.set(person, page);
  // Another page in between closes open dialogs, and shows when a page with the same heading has appeared.
  if (last === undefined || last.open !== undefined || last.title === page.title) {
    await goTo(person, NO_SUCH_PAGE.path);
    await person.heading(NO_SUCH_PAGE.title);
  }
  await goTo(person, page.path);
  await waitUntilShown(person, page);
}

async function waitUntilShown(person: Person, page: VisitedPage): Promise<void> {
  await person.heading(page.title);
  if (page.shows !== '') await person.sees(page.shows, person.page.getByRole('main'));
  await page.open?.(person);
}
