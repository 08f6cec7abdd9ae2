/** A connection, as far as the schema needs one. */
export interface Queryable {
  query(sql: string, values?: unknown[]): Promise<{ readonly rows: readonly object[] }>;
}
