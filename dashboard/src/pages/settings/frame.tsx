/** The frame of the settings: those of the project that is looked at, and those of the whole installation. */
import type { ComponentChildren } from 'preact';
import { Page } from '../../components/page.tsx';
import { type TabLink, TabLinks } from '../../components/tabs.tsx';
import { path, to } from '../../router.ts';
import { may, place, toPage } from '../../session.ts';

function tabs(): readonly TabLink[] {
  const here = to(path.value);
  const ofProject = place.value === null ? [] : (['keys', 'secrets'] as const);
  const ofAll = (['account', 'people', 'projects', 'audit', 'about'] as const).filter(
    (name) => may('admin') || (name !== 'people' && name !== 'audit'),
  );
  return [
    ...ofProject.map((name) => ({ href: toPage(`settings/${name}`), label: LABELS[name] })),
    ...ofAll.map((name) => ({ href: to(`settings/${name}`), label: LABELS[name] })),
  ].map((tab) => ({ ...tab, isCurrent: tab.href === here }));
}

const LABELS = {
  keys: 'API keys',
  secrets: 'Signing secrets',
  account: 'Your account',
  people: 'People',
  projects: 'Projects',
  audit: 'Audit log',
  about: 'Retention, about',
} as const;

export interface SettingsProps {
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Settings({ title, lead, actions, children }: SettingsProps) {
  return (
    <>
      <TabLinks label="Settings" tabs={tabs()} />
      <Page
        title={title}
        {...(lead === undefined ? {} : { lead })}
        {...(actions === undefined ? {} : { actions })}
      >
        {children}
      </Page>
    </>
  );
}
