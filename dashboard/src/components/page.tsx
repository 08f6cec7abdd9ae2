/** The frame of a page: heading, actions, cards, lists of details. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { type Live, refreshLive } from '../live.ts';
import { hrefInProject, scope } from '../session.ts';
import { TruncatedText, withLineBreaks } from './copy.tsx';
import { ErrorPanel } from './error.tsx';

export interface PageProps {
  /** The kind of page, or of the object that it shows. */
  readonly title: string;
  /** What the object is called. Null until it is loaded. */
  readonly subject?: string | null;
  /** The page of the list that the object is in. */
  readonly parent?: readonly [href: string, label: string];
  /** A badge beside the heading. */
  readonly badge?: ComponentChildren;
  /** The id of the object that the page shows. */
  readonly id?: string | undefined;
  readonly actions?: ComponentChildren;
  readonly lead?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The heading gets the focus, so that screen readers read it after a link. */
export function Page({ title, subject = null, parent, badge, id, actions, lead, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  useEffect(() => {
    const where = scope.peek()?.project;
    const parts = [subject, title, where, 'Sched'];
    document.title = parts.filter((part) => part !== undefined && part !== null).join(' · ');
  }, [title, subject]);
  return (
    <>
      <div class="mb-4">
        <div class="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
          <div class="min-w-0">
            {parent === undefined ? null : (
              <nav aria-label="Breadcrumb" class="text-sm">
                <a class="link" href={hrefInProject(parent[0])}>
                  {parent[1]}
                </a>
              </nav>
            )}
            <div class="flex min-h-8.5 flex-wrap items-center gap-x-2.5">
              <h1 ref={heading} tabIndex={-1} class="min-w-0 text-xl font-semibold tracking-tight">
                {subject === null ? (
                  title
                ) : (
                  <>
                    <span class="sr-only">{title} </span>
                    {withLineBreaks(subject)}
                  </>
                )}
              </h1>
              {badge}
            </div>
            {id === undefined ? null : <TruncatedText text={id} charactersMax={64} isMono canCopy />}
          </div>
          {actions === undefined ? null : <div class="flex flex-wrap gap-2">{actions}</div>}
        </div>
        {lead === undefined ? null : <div class="mt-0.5 text-dim">{lead}</div>}
      </div>
      {children}
    </>
  );
}

export interface CardProps {
  readonly title?: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  /** Whether the content reaches to the edges, as tables do. */
  readonly isFlush?: boolean;
  readonly className?: string;
}

export function Card({ title, actions, children, isFlush = false, className = '' }: CardProps) {
  const id = useId();
  return (
    <section class={`card min-w-0 ${className}`} aria-labelledby={title === undefined ? undefined : id}>
      {title === undefined ? null : (
        <div class={`flex flex-wrap items-center justify-between gap-2 px-4 pt-3 ${isFlush ? 'pb-2' : ''}`}>
          <h2 id={id} class="font-semibold">
            {title}
          </h2>
          {actions}
        </div>
      )}
      <div class={isFlush ? '' : 'px-4 pt-2 pb-4'}>{children}</div>
    </section>
  );
}

/** Names and values side by side. */
export function DetailList({
  items,
}: {
  readonly items: readonly (readonly [string, ComponentChildren] | null)[];
}) {
  return (
    <dl class="grid grid-cols-1 gap-x-5 gap-y-1.5 sm:grid-cols-[minmax(7rem,auto)_1fr]">
      {items.map((item) =>
        item === null ? null : (
          <div key={item[0]} class="flex flex-wrap gap-x-3 sm:contents">
            <dt class="min-w-30 text-dim">{item[0]}</dt>
            <dd class="min-w-0">{item[1]}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** Shows the data once it is loaded, a skeleton before, and an error if there is no data. */
export function Loaded<T>({
  live,
  skeleton,
  children,
}: {
  readonly live: Live<T>;
  readonly skeleton: ComponentChildren;
  readonly children: (data: T) => ComponentChildren;
}) {
  if (live.data !== null) return <>{children(live.data)}</>;
  if (live.error !== null) return <ErrorPanel error={live.error} onRetry={() => void refreshLive()} />;
  return <>{skeleton}</>;
}
