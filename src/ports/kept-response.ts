/** The beginning of an answer that was not 2xx. */
export interface KeptResponse {
  readonly statusCode: number;
  readonly contentType: string | null;
  /** Whether the answer was longer. */
  readonly isTruncated: boolean;
  /** The bytes, encrypted. */
  readonly sealed: Uint8Array;
}
