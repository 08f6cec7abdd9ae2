type LogFields = Readonly<Record<string, string | number | boolean | null>>;

/** Structured logs. Fields never hold secrets, header values or bodies. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export interface Metrics {
  /** One API request answered. `route` is the pattern, never the path with its ids. */
  requestServed(method: string, route: string, status: number, seconds: number): void;
  /** One store verb carried out, from the call to its answer. */
  storeVerb(verb: string, outcome: 'ok' | 'error', seconds: number): void;
}

/** The metrics as a Prometheus server scrapes them. */
export interface Exposition {
  readonly contentType: string;
  exposition(): Promise<string>;
}
