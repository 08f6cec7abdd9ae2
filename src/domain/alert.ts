/**
 * Alerts of a project in one mode. A condition says what is wrong when it is true, and its channels are told. While it is
 * true, there is an incident (`alert-incident.ts`). Messages about it go to the channels (`alert-message.ts`).
 */
import type { AlertChannelKind, AlertConditionKind } from './alert-kinds.ts';
import { isDestination } from './destination.ts';
import type { AlertChannelId, AlertConditionId } from './id.ts';
import type { Instant } from './instant.ts';
import type { Partition } from './project.ts';

export {
  ALERT_CHANNEL_KINDS,
  ALERT_CONDITION_KINDS,
  type AlertChannelKind,
  type AlertConditionKind,
} from './alert-kinds.ts';

export interface AlertChannel {
  readonly partition: Partition;
  readonly id: AlertChannelId;
  readonly kind: AlertChannelKind;
  readonly name: string;
  /** The URL, encrypted: it is a credential. */
  readonly sealedUrl: Uint8Array;
  /** What everybody may see of the URL. */
  readonly shownUrl: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly revision: number;
}

/** Both are null unless the condition is `deliveries_failed`. */
export interface AlertTerms {
  readonly threshold: number | null;
  readonly windowMinutes: number | null;
}

export interface AlertCondition extends AlertTerms {
  readonly partition: Partition;
  readonly id: AlertConditionId;
  readonly kind: AlertConditionKind;
  /** Each gets its own messages. There is at least one. */
  readonly channelIds: readonly AlertChannelId[];
  readonly enabled: boolean;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly revision: number;
}

/** The maximum of one partition. */
export const ALERT_CHANNELS_MAX = 20;
export const ALERT_CONDITIONS_MAX = 20;
export const ALERT_URL_CHARACTERS_MAX = 2_048;
export const ALERT_NAME_CHARACTERS_MAX = 100;
export const ALERT_THRESHOLD = { min: 0, max: 1_000_000 } as const;
export const ALERT_WINDOW_MINUTES = { min: 1, max: 1_440 } as const;

/** Control and format characters and lone surrogates would hide or change what a person reads. */
const UNREADABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

export function isAlertName(text: string): boolean {
  const isLong = text.length > ALERT_NAME_CHARACTERS_MAX;
  return text !== '' && !isLong && text.trim() === text && !UNREADABLE.test(text);
}

export function isAlertUrl(text: string, httpAllowed: boolean): boolean {
  return text.length <= ALERT_URL_CHARACTERS_MAX && isDestination(text, httpAllowed);
}

/** Returns the origin of the URL. Path and query of an incoming webhook are a credential. */
export function shownUrlOf(url: string): string {
  return `${URL.parse(url)?.origin ?? ''}/…`;
}
