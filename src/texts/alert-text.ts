/**
 * Says in plain sentences what an alert is about: what happened, why, and what to do. Every channel gets the same
 * sentences. A message names an endpoint by its profile, or by its origin: the rest of a URL may be a secret.
 */
import { type AlertConditionKind, shownUrlOf } from '#src/domain/alert.ts';
import {
  type AlertIncident,
  type IncidentMessageKind,
  OWN_INCIDENTS_MAX,
  QUIET_MS,
} from '#src/domain/alert-incident.ts';
import type { AlertContent } from '#src/domain/alert-message.ts';
import type { AlertIncidentId } from '#src/domain/id.ts';
import { formatInstant, MS_PER_MINUTE } from '#src/domain/instant.ts';
import type { Mode } from '#src/domain/project.ts';
import { counted } from './quote.ts';

const QUIET_MINUTES = QUIET_MS / MS_PER_MINUTE;
/** A title is one line. */
const TITLE_ENDPOINT_CHARACTERS_MAX = 80;

/** The project that an alert belongs to. */
export interface AlertPlace {
  readonly project: string;
  readonly mode: Mode;
  /** The address of the dashboard; null if it is not known. */
  readonly dashboard: string | null;
}

/** The wording of a message. `unused`: a breaker did not close, but nothing has been sent to its endpoint for days. */
export type IncidentWording = IncidentMessageKind | 'unused';

interface Words {
  readonly title: string;
  readonly text: string;
}

export function incidentContent(
  wording: IncidentWording,
  incident: AlertIncident,
  { project, mode, dashboard }: AlertPlace,
): AlertContent {
  const { id, conditionId, endpoint, detail, begunAt, endedAt } = incident;
  return {
    ...incidentWords(wording, { ...incident, endpoint: shownEndpoint(endpoint) }),
    url: pageOf({ project, mode, dashboard }, id),
    project,
    mode,
    incident: {
      id,
      condition_id: conditionId,
      kind: detail.kind,
      endpoint,
      opened_at: formatInstant(begunAt),
      closed_at: endedAt === null ? null : formatInstant(endedAt),
    },
  };
}

export function testContent({ project, mode, dashboard }: AlertPlace): AlertContent {
  return {
    title: 'Test of an alert channel',
    text: `Alerts of the project ${project} (${mode}) can reach this channel. Nothing is wrong.`,
    url: pageOf({ project, mode, dashboard }, null),
    project,
    mode,
    incident: null,
  };
}

function pageOf({ project, mode, dashboard }: AlertPlace, id: AlertIncidentId | null): string | null {
  return dashboard === null ? null : `${dashboard}/p/${project}/${mode}/alerts${id === null ? '' : `/${id}`}`;
}

/** The words about an incident depend on this. `endpoint` is shown as it is. */
export interface WordedIncident extends Pick<AlertIncident, 'detail' | 'begunAt'> {
  readonly endpoint: string | null;
}

export function incidentWords(wording: IncidentWording, incident: WordedIncident): Words {
  if (wording === 'unused') return unusedWords(incident);
  const words = WORDS[incident.detail.kind](incident)[wording];
  if (wording !== 'reminder') return words;
  return { ...words, text: `${words.text} This began at ${formatInstant(incident.begunAt)}.` };
}

function unusedWords(incident: WordedIncident): Words {
  return {
    title: `No more deliveries: ${shortName(incident)}`,
    text: `Nothing has been sent to ${fullName(incident)} for two days. Its circuit breaker did not close, and nothing probes it. Close it in the dashboard if the endpoint works again.`,
  };
}

type WordsOfKind = Readonly<Record<IncidentMessageKind, Words>>;

/** The endpoints that share an incident. */
const FURTHER_BREAKERS: WordsOfKind = {
  opened: {
    title: `More than ${OWN_INCIDENTS_MAX} breakers are open`,
    text: `The circuit breakers of further endpoints opened. Only ${OWN_INCIDENTS_MAX} endpoints have messages of their own at a time. Look at all endpoints in the dashboard.`,
  },
  reminder: {
    title: `Still more than ${OWN_INCIDENTS_MAX} breakers are open`,
    text: `Only ${OWN_INCIDENTS_MAX} endpoints have messages of their own at a time. Look at all endpoints in the dashboard.`,
  },
  closed: {
    title: `No further breakers are open`,
    text: `For ${QUIET_MINUTES} minutes, each endpoint whose circuit breaker is open has had messages of its own.`,
  },
};

const WORDS: Readonly<Record<AlertConditionKind, (incident: WordedIncident) => WordsOfKind>> = {
  breaker_opened: (incident) => {
    if (incident.endpoint === null) return FURTHER_BREAKERS;
    const [name, endpoint] = [shortName(incident), fullName(incident)];
    const advice = 'Check the receiver, then close the breaker in the dashboard or wait for the next probe.';
    return {
      opened: {
        title: `Breaker open: ${name}`,
        text: `The circuit breaker of ${endpoint} opened, because its attempts kept failing. Its deliveries wait until a probe succeeds. ${advice}`,
      },
      reminder: {
        title: `Breaker still open: ${name}`,
        text: `The circuit breaker of ${endpoint} has not closed yet. ${advice}`,
      },
      closed: {
        title: `Breaker closed: ${name}`,
        text: `The circuit breaker of ${endpoint} has been closed for ${QUIET_MINUTES} minutes.`,
      },
    };
  },

  deliveries_failed: ({ detail }) => {
    const failed = detail.count === 1 ? '1 delivery was' : `${counted(detail.count ?? 0)} deliveries were`;
    const limit = counted(detail.threshold ?? 0);
    const window = detail.windowMinutes === 1 ? '1 minute' : `${counted(detail.windowMinutes ?? 0)} minutes`;
    const advice = 'Look at the dead letters in the dashboard, correct the cause, then replay them.';
    return {
      opened: {
        title: `Deliveries fail: more than ${limit} in ${window}`,
        text: `${failed} dead-lettered or expired in the last ${window}. ${advice}`,
      },
      reminder: {
        title: `Deliveries still fail: more than ${limit} in ${window}`,
        text: `More than ${limit} deliveries were dead-lettered or expired in the last ${window}. ${advice}`,
      },
      closed: {
        title: `Failures are over: at most ${limit} in ${window}`,
        text: `For ${QUIET_MINUTES} minutes, at most ${limit} deliveries were dead-lettered or expired in ${window}.`,
      },
    };
  },

  occurrences_skipped: () => {
    const cause = 'The service was down, cut off from its database, or overloaded.';
    return {
      opened: {
        title: 'Scheduled occurrences were skipped',
        text: `Recurring schedules skipped occurrences, because their deliveries were taken up too late. ${cause} Each schedule goes on with its next occurrence.`,
      },
      reminder: {
        title: 'Scheduled occurrences are still skipped',
        text: `Recurring schedules keep skipping occurrences, because their deliveries are taken up too late. ${cause}`,
      },
      closed: {
        title: 'Scheduled occurrences are no longer skipped',
        text: `No recurring schedule has skipped an occurrence for some minutes.`,
      },
    };
  },
};

/** The name of the profile, else the endpoint. */
function shortName({ endpoint, detail }: WordedIncident): string {
  return cut(detail.endpointName ?? endpoint ?? '', TITLE_ENDPOINT_CHARACTERS_MAX);
}

function fullName({ endpoint, detail: { endpointName } }: WordedIncident): string {
  return endpointName === null ? (endpoint ?? '') : `the endpoint profile ${endpointName} (${endpoint})`;
}

/** A path may be a credential, as that of an incoming webhook is. */
function shownEndpoint(endpoint: string | null): string | null {
  return endpoint !== null && URL.canParse(endpoint) ? shownUrlOf(endpoint) : endpoint;
}

/** Cuts between two characters. */
function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
