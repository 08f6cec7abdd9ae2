/**
 * Looks whether the conditions of alerts are true, customer by customer with a pause after each, so that its share of
 * the process and of the store stays small. It reads what the nodes have saved, never deliveries.
 *
 * Only the upkeep node does it, and its writes carry its fence. What it decides begins or changes an incident together
 * with the messages about it, if nothing has changed since it was read. Otherwise it decides again in the next round.
 */
import type { AlertCondition } from '#src/domain/alert.ts';
import {
  type AlertFinding,
  type AlertIncident,
  beginIncident,
  decideIncidents,
  findingsOf,
  type IncidentMessageKind,
} from '#src/domain/alert-incident.ts';
import { type AlertContent, type AlertMessage, createMessage } from '#src/domain/alert-message.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { parseId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import { MODES, type Partition } from '#src/domain/project.ts';
import { isUpkeepNode } from '#src/engine/cluster/slot-ownership.ts';
import { type OutageLog, warnsOfOutage } from '#src/engine/outage-log.ts';
import type { IncidentWrite } from '#src/ports/alert-store.ts';
import { PeriodicTask, type Wait } from '#src/ports/periodic-task.ts';
import { type AlertPlace, type IncidentWording, incidentContent } from '#src/texts/alert-text.ts';
import { AlertObserver } from './alert-observer.ts';
import type { AlertsDependencies } from './dependencies.ts';

export const EVALUATE_EVERY_MS = 5_000;
const PAUSE_MS = 20;
const PARTITIONS_LISTED_MAX = 100;

export interface AlertEvaluatorOptions {
  /** The address of the dashboard; null if it is not known. */
  readonly dashboard: string | null;
  /** Messages were created. */
  readonly onMessages: () => void;
}

export class AlertEvaluator {
  readonly #dependencies: AlertsDependencies;
  readonly #options: AlertEvaluatorOptions;
  readonly #observer: AlertObserver;
  readonly #outage: OutageLog;
  readonly #task: PeriodicTask;
  /** The partitions of this round that come next, and the last one that was listed. */
  #next: Partition[] = [];
  #after: Partition | null = null;

  constructor(dependencies: AlertsDependencies, options: AlertEvaluatorOptions) {
    this.#dependencies = dependencies;
    this.#options = options;
    this.#observer = new AlertObserver(dependencies);
    this.#outage = warnsOfOutage(
      dependencies,
      'the conditions of alerts could not be evaluated',
      'the conditions of alerts are evaluated again',
    );
    this.#task = new PeriodicTask(
      dependencies.timers,
      () => this.#run(),
      (error) => {
        this.#outage.failed({ error: String(error) });
        return EVALUATE_EVERY_MS;
      },
    );
  }

  start(): void {
    this.#task.runNow();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
    this.#outage.stop();
  }

  async #run(): Promise<Wait> {
    const partition = isUpkeepNode(this.#dependencies.ownership) ? await this.#takeNext() : null;
    if (partition === null) return EVALUATE_EVERY_MS;
    await this.#evaluate(partition);
    this.#outage.succeeded();
    return PAUSE_MS;
  }

  /** Returns null at the end of a round. */
  async #takeNext(): Promise<Partition | null> {
    if (this.#next.length === 0) {
      const { alerts } = this.#dependencies.store;
      this.#next = [...(await alerts.listPartitionsWithConditions(this.#after, PARTITIONS_LISTED_MAX))];
      this.#after = this.#next.at(-1) ?? null;
    }
    return this.#next.shift() ?? null;
  }

  async #evaluate(partition: Partition): Promise<void> {
    const { store, clock } = this.#dependencies;
    const conditions = (await store.alerts.listConditions(partition)).filter(({ enabled }) => enabled);
    const open = await store.alerts.listOpenIncidents(partition);
    const now = clock.now();
    const observed = await this.#observer.observe(partition, conditions, open, now);
    const decided = conditions.map((condition) => {
      const own = open.filter(({ conditionId }) => conditionId === condition.id);
      return { condition, ...decideIncidents(own, findingsOf(condition, observed, now), now) };
    });
    if (decided.every(({ begun, changed }) => begun.length + changed.length === 0)) return;
    const place = await this.#placeOf(partition);
    for (const { condition, begun, changed } of decided) {
      for (const finding of begun) await this.#begin(condition, finding, place, now);
      for (const { incident, message } of changed)
        await this.#change(condition, incident, message, place, now);
    }
  }

  async #begin(
    condition: AlertCondition,
    finding: AlertFinding,
    place: AlertPlace,
    now: Instant,
  ): Promise<void> {
    const { store, ids, ownership } = this.#dependencies;
    const name = await this.#nameOf(condition.partition, finding.endpoint);
    const incident = beginIncident(condition, ids.mint('inc', now), finding, name, now);
    const content = incidentContent('opened', incident, place);
    const write = {
      condition,
      incident,
      messages: this.#messages(condition, incident, 'opened', content, now),
    };
    this.#told(write, 'opened', await store.alerts.addIncident(write, ownership.fence));
  }

  async #change(
    condition: AlertCondition,
    incident: AlertIncident,
    message: IncidentMessageKind | null,
    place: AlertPlace,
    now: Instant,
  ): Promise<void> {
    const { store, ownership } = this.#dependencies;
    let messages: readonly AlertMessage[] = [];
    if (message !== null) {
      // The condition may have been changed since the incident began.
      const { threshold, windowMinutes } = condition;
      const present = { ...incident, detail: { ...incident.detail, threshold, windowMinutes } };
      const content = incidentContent(await this.#wordingOf(incident, message, now), present, place);
      messages = this.#messages(condition, incident, message, content, now);
    }
    const write = { condition, incident, messages };
    this.#told(write, message, await store.alerts.replaceIncident(write, ownership.fence));
  }

  #told(
    { incident: { id, detail } }: IncidentWrite,
    message: IncidentMessageKind | null,
    answer: 'done' | 'stale',
  ): void {
    if (answer === 'stale' || message === null) return;
    const { log } = this.#dependencies;
    const fields = { incident: id, condition: detail.kind };
    if (message === 'opened') log.info(fields, 'an incident began');
    else if (message === 'closed') log.info(fields, 'an incident ended');
    else log.info(fields, 'an incident goes on');
    this.#options.onMessages();
  }

  /** An incident of a breaker may end although the breaker did not close. */
  async #wordingOf(
    { partition, endpoint }: AlertIncident,
    message: IncidentMessageKind,
    now: Instant,
  ): Promise<IncidentWording> {
    if (message !== 'closed' || endpoint === null) return message;
    return (await this.#observer.isLeftOpen(partition, endpoint, now)) ? 'unused' : 'closed';
  }

  #messages(
    { channelIds }: AlertCondition,
    { partition, id: incidentId }: AlertIncident,
    kind: IncidentMessageKind,
    content: AlertContent,
    now: Instant,
  ): readonly AlertMessage[] {
    return channelIds.map((channelId) => {
      const id = this.#dependencies.ids.mint('dlv', now);
      return createMessage({ partition, id, incidentId, channelId, kind, content }, now);
    });
  }

  /** Changes are rare, so the projects are read each time. */
  async #placeOf(partition: Partition): Promise<AlertPlace> {
    const { dashboard } = this.#options;
    for (const { name, partitions } of await this.#dependencies.store.listProjects()) {
      const mode = MODES.find((one) => partitions[one] === partition);
      if (mode !== undefined) return { project: name, mode, dashboard };
    }
    throw new Error('Every partition belongs to a project.');
  }

  async #nameOf(partition: Partition, endpoint: EndpointKey | null): Promise<string | null> {
    const id = endpoint === null ? null : parseId('ep', endpoint);
    const profile = id === null ? null : await this.#dependencies.store.findProfile(partition, id);
    return profile?.name ?? null;
  }
}
