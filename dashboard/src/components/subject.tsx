/** What an object is called everywhere: its name, else its destination. */
import { truncateMiddle } from '../format.ts';
import { hrefInProject } from '../session.ts';
import { DestinationText, TruncatedText } from './copy.tsx';

export interface Subject {
  readonly name: string | null;
  readonly url: string;
  readonly method?: string;
}

const TITLE_CHARACTERS_MAX = 90;

/** For the title of a page. The page shows the whole text below. */
export function titleOf({ name, url, method }: Subject): string {
  return truncateMiddle(name ?? (method === undefined ? url : `${method} ${url}`), TITLE_CHARACTERS_MAX);
}

/** A link named by the subject, with the destination below a name. */
export function SubjectLink({
  subject,
  page,
  note,
  charactersMax = 46,
}: {
  readonly subject: Subject;
  /** The page in the project, such as `schedules/sch_…`. */
  readonly page: string;
  /** The id, or more about the object. */
  readonly note: string;
  readonly charactersMax?: number;
}) {
  const { name, url, method } = subject;
  const destination = {
    url,
    charactersMax,
    ...(method !== undefined && { method }),
  };
  return (
    <div class="min-w-0">
      <a class="link font-medium" href={hrefInProject(page)}>
        {name === null ? (
          <DestinationText {...destination} />
        ) : (
          <TruncatedText text={name} charactersMax={charactersMax} />
        )}
      </a>
      {name === null ? null : (
        <div class="text-sm text-dim">
          <DestinationText {...destination} />
        </div>
      )}
      <div class="font-mono text-xs text-dim">{note}</div>
    </div>
  );
}
