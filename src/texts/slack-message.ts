/**
 * The message for an incoming webhook of Slack: a title, what happened, since when, and a link. Slack refuses a message
 * whose texts are too long. It reads `&`, `<` and `>` as control characters, so a name could otherwise mention everybody.
 */
import type { AlertContent } from '#src/domain/alert-message.ts';

/** The limits that Slack documents. */
export const SLACK_LIMITS = { blocks: 50, header: 150, section: 3_000, contextElements: 10 } as const;

const PLAIN_CHARACTERS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
/** Control characters, and characters that change the direction or the lines of a text. */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u;
/** Emoji of several parts are joined by this one. */
const JOINER = '\u200d';

interface Text {
  readonly type: 'mrkdwn';
  readonly text: string;
  /** Slack makes no links and mentions of its own. */
  readonly verbatim: true;
}

export type SlackBlock =
  | {
      readonly type: 'header';
      readonly text: { readonly type: 'plain_text'; readonly text: string; readonly emoji: false };
    }
  | { readonly type: 'section'; readonly text: Text }
  | { readonly type: 'context'; readonly elements: readonly Text[] };

export interface SlackMessage {
  /** For notifications, and for services that know no blocks. */
  readonly text: string;
  readonly blocks: readonly SlackBlock[];
}

export function slackMessage(content: AlertContent): SlackMessage {
  const { title, text, url, project, mode, incident } = content;
  const facts = [
    `Project ${project} (${mode})`,
    ...(incident === null ? [] : [`since ${readable(incident.opened_at)}`]),
    ...(incident?.closed_at == null ? [] : [`until ${readable(incident.closed_at)}`]),
  ];
  const link = url === null ? [] : [`<${escaped(url, SLACK_LIMITS.section / 2)}|Open the dashboard>`];
  return {
    text: escaped(`${title}\n${text}`, SLACK_LIMITS.section),
    blocks: [
      {
        type: 'header',
        text: {
          type: 'plain_text',
          text: escaped(title.replaceAll('\n', ' '), SLACK_LIMITS.header),
          emoji: false,
        },
      },
      { type: 'section', text: markdown(escaped(text, SLACK_LIMITS.section)) },
      {
        type: 'context',
        elements: [escaped(facts.join(', '), SLACK_LIMITS.section), ...link].map(markdown),
      },
    ],
  };
}

function markdown(text: string): Text {
  return { type: 'mrkdwn', text, verbatim: true };
}

/** `2026-11-15T08:00:00.000Z` as `2026-11-15 08:00:00 UTC`. */
function readable(at: string): string {
  return `${at.slice(0, 19).replace('T', ' ')} UTC`;
}

/** Returns at most `max` characters, with those escaped that Slack interprets. It is cut between two characters. */
function escaped(text: string, max: number): string {
  let shown = '';
  for (const character of text.toWellFormed()) {
    const next = PLAIN_CHARACTERS[character] ?? shownAs(character);
    if (shown.length + next.length > max - 1) return `${shown}…`;
    shown += next;
  }
  return shown;
}

function shownAs(character: string): string {
  return character !== '\n' && character !== JOINER && UNSHOWN.test(character) ? ' ' : character;
}
