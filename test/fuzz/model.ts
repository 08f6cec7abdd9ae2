/**
 * The model of what must be stored: every object as its last answer showed it, and nothing else. A client
 * sends one request at a time and changes only its own objects, so its model is exact beside the other
 * clients.
 */
import type { EndpointResource, ScheduleResource } from '#src/api/contract/resources.ts';

export interface KnownSchedule {
  json: ScheduleResource;
  /** The endpoint profile was edited since, so fields that it decides may differ from the last answer. */
  profileEdited: boolean;
}

export interface KnownEndpoint {
  json: EndpointResource;
}

export interface RecordedAnswer {
  readonly key: string;
  readonly path: string;
  readonly method: string;
  readonly requestBody: Buffer;
  readonly status: number;
  readonly answer: string;
}

/** How many answers of idempotent requests a client can ask for again. */
const ANSWERS_MAX = 50;

export class FuzzClient {
  readonly number: number;
  readonly schedules: KnownSchedule[] = [];
  readonly endpoints: KnownEndpoint[] = [];
  readonly answers: RecordedAnswer[] = [];
  readonly #schedulesById = new Map<string, KnownSchedule>();
  readonly #endpointsById = new Map<string, KnownEndpoint>();

  constructor(number: number) {
    this.number = number;
  }

  addSchedule(json: ScheduleResource): void {
    const known = { json, profileEdited: false };
    this.schedules.push(known);
    this.#schedulesById.set(json.id, known);
  }

  addEndpoint(json: EndpointResource): void {
    const known = { json };
    this.endpoints.push(known);
    this.#endpointsById.set(json.id, known);
  }

  schedule(id: string): KnownSchedule | undefined {
    return this.#schedulesById.get(id);
  }

  endpoint(id: string): KnownEndpoint | undefined {
    return this.#endpointsById.get(id);
  }

  recordAnswer(answer: RecordedAnswer): void {
    if (this.answers.length >= ANSWERS_MAX) this.answers.shift();
    this.answers.push(answer);
  }
}

/** The total counts of everything stored. */
export interface Totals {
  schedules: number;
  endpoints: number;
  endpointVersions: number;
  payloads: number;
  receipts: number;
}

export class Model {
  readonly clients: readonly FuzzClient[];
  readonly totals: Totals = { schedules: 0, endpoints: 0, endpointVersions: 0, payloads: 0, receipts: 0 };
  /**
   * The `idempotency_key` of creates whose client closed the connection before the answer. They may be
   * stored.
   */
  readonly abandoned = new Set<string>();

  constructor(clientCount: number) {
    this.clients = Array.from({ length: clientCount }, (_, i) => new FuzzClient(i));
  }
}
